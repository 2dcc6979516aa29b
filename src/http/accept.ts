/**
 * Content negotiation: the media type of a response by the `Accept` header (RFC 9110, 12.5.1). The library `negotiator`
 * treats a media type with parameters as a different type. It would refuse Prometheus, which requests OpenMetrics with
 * a version and an escaping scheme.
 */
import type { FastifyReply } from "fastify";

interface Range {
  readonly type: string;
  readonly subtype: string;
  /** From 0 (not acceptable) to 1. */
  readonly quality: number;
}

/**
 * Returns the offered media type with the highest quality; the first one of several. Undefined if the client accepts
 * none of them.
 */
export function preferred<const Offer extends string>(
  accept: string | undefined,
  offered: readonly Offer[],
): Offer | undefined {
  if (accept === undefined || accept.trim() === "") return offered[0];
  const ranges = accept.split(",").flatMap(readRange);
  const rated = offered.map((offer) => ({ offer, quality: qualityOf(offer, ranges) }));
  const best = Math.max(...rated.map(({ quality }) => quality));
  return best > 0 ? rated.find(({ quality }) => quality === best)?.offer : undefined;
}

/** Returns an empty list for a range that cannot be parsed. Parameters other than `q` are ignored. */
function readRange(text: string): Range[] {
  const [media = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const [, type, subtype] = /^([^/\s]+)\/([^/\s]+)$/.exec(media) ?? [];
  const q = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
  if (type === undefined || subtype === undefined || !/^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(q)) return [];
  return [{ type, subtype, quality: Number(q) }];
}

/** The most specific matching range decides, whatever the order of the ranges. */
function qualityOf(offer: string, ranges: readonly Range[]): number {
  const [type, subtype] = offer.split("/");
  const exact = ranges.find((range) => range.type === type && range.subtype === subtype);
  const kind = ranges.find((range) => range.type === type && range.subtype === "*");
  const any = ranges.find((range) => range.type === "*" && range.subtype === "*");
  return (exact ?? kind ?? any)?.quality ?? 0;
}

/** Appends to an existing `Vary` header. */
export function varyBy(reply: FastifyReply, header: string): void {
  const known = reply.getHeader("vary");
  reply.header("vary", known === undefined ? header : `${String(known)}, ${header}`);
}
