/**
 * A link to a file of the API. A plain link cannot send a token, so if there is one, the file is fetched and then
 * saved.
 */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { requireSignIn, sessionToken } from "../state/session.js";
import { en } from "../text/en.js";

interface DownloadProps {
  readonly href: string;
  /** Set if the browser should open the file rather than save it. The file name if it is saved after all. */
  readonly opened?: string;
  readonly children: ComponentChildren;
}

export function Download({ href, opened, children }: DownloadProps) {
  const [failure, setFailure] = useState<string>();
  const onClick = (event: Event) => {
    const token = sessionToken();
    if (token === undefined) return;
    event.preventDefault();
    setFailure(undefined);
    save(href, token, opened).catch((error: unknown) => setFailure(String(error)));
  };
  return (
    <>
      <a href={href} {...(opened === undefined && { download: true })} onClick={onClick}>
        {children}
      </a>
      {failure !== undefined && (
        <span class="field-error" role="alert">
          {en.failed.title}
        </span>
      )}
    </>
  );
}

async function save(href: string, token: string, name = ""): Promise<void> {
  const response = await fetch(href, { headers: { authorization: `Bearer ${token}` } });
  if (response.status === 401) return requireSignIn();
  if (!response.ok) throw new Error(`status ${response.status}`);
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? name;
  link.click();
  URL.revokeObjectURL(address);
}
