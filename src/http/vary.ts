import type { FastifyReply } from "fastify";

/** Appends to an existing `Vary` header. */
export function varyBy(reply: FastifyReply, header: string): void {
  const known = reply.getHeader("vary");
  reply.header("vary", known === undefined ? header : `${String(known)}, ${header}`);
}
