/**
 * Parses `multipart/form-data` bodies, in which clients send long query parameters as parts named `query` and
 * `param_*`. Parts with a file name would be external tables, which this server does not support.
 */
import { exception } from "./exception.js";

const CRLF = "\r\n";

/** Returns the parts by name. Throws if the body is not multipart. */
export function parseMultipart(contentType: string, body: Buffer): ReadonlyMap<string, string> {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (boundary === undefined) throw exception("BAD_ARGUMENTS", "multipart/form-data without a boundary");
  const parts = new Map<string, string>();
  const sections = body.toString("latin1").split(`--${boundary}`);
  for (const section of sections.slice(1, -1)) {
    const split = section.indexOf(CRLF + CRLF);
    const head = section.slice(0, split);
    const name = /;\s*name="([^"]*)"/i.exec(head)?.[1];
    if (split < 0 || name === undefined)
      throw exception("BAD_ARGUMENTS", "A part of the multipart body has no name");
    if (/;\s*filename=/i.test(head)) throw exception("NOT_IMPLEMENTED", "External tables are not supported");
    const value = section.slice(split + 2 * CRLF.length, -CRLF.length);
    parts.set(name, Buffer.from(value, "latin1").toString("utf8"));
  }
  return parts;
}
