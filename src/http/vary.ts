import type { FastifyReply } from "fastify";

/** Besides what other plugins say that the answer depends on. */
export function varyBy(reply: FastifyReply, header: string): void {
  const known = reply.getHeader("vary");
  reply.header("vary", known === undefined ? header : `${String(known)}, ${header}`);
}
