import type { ComponentChildren } from "preact";
import { follow } from "../state/follow.js";

interface LinkProps {
  readonly href: string;
  readonly children: ComponentChildren;
  readonly class?: string | undefined;
  readonly title?: string | undefined;
  readonly "aria-current"?: "page" | undefined;
}

/** A link within the console. It is a real link, so it can be copied or opened in a new tab, but loads no page. */
export function Link({ href, children, ...rest }: LinkProps) {
  const onClick = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    follow(href);
  };
  return (
    <a {...rest} href={href} onClick={onClick}>
      {children}
    </a>
  );
}
