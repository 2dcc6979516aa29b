/** A link to a file of the API. */
import type { ComponentChildren } from "preact";

interface DownloadProps {
  readonly href: string;
  /** Set if the browser should open the file rather than save it. */
  readonly opened?: boolean;
  readonly children: ComponentChildren;
}

export function Download({ href, opened = false, children }: DownloadProps) {
  return (
    <a href={href} download={!opened}>
      {children}
    </a>
  );
}
