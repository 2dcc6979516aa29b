/** Takes `X-Request-Id` from the client if it is usable, or generates one. It is in the log and in every response. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import fp from "fastify-plugin";

/** Characters that need no escaping in a log line or a header. */
const USABLE = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/** For Fastify's `genReqId`. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && USABLE.test(given) ? given : randomUUID();
}

export const requestId = fp(
  async (app) => {
    app.addHook("onRequest", async (request, reply) => {
      reply.header("x-request-id", request.id);
    });
  },
  { name: "request-id" },
);
