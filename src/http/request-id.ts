/** `X-Request-Id`: taken from the client when it is usable, made otherwise; in the log and in every answer. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** What fits a log line and a header as it is. */
const USABLE = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && USABLE.test(given) ? given : randomUUID();
}
