/**
 * Which of several media types a client wants, by its `Accept` (RFC 9110, 12.5.1). The library `negotiator` takes a media type with
 * parameters for another one, so that it would deny Prometheus the OpenMetrics that it asks for with a version and an escaping scheme.
 */

interface Range {
  readonly type: string;
  readonly subtype: string;
  /** From 0, not wanted, to 1. */
  readonly quality: number;
}

/** The one of `offered` that the client likes best; among equals the first. Undefined when it takes none. */
export function preferred<const Offer extends string>(
  accept: string | undefined,
  offered: readonly Offer[],
): Offer | undefined {
  if (accept === undefined || accept.trim() === "") return offered[0];
  const ranges = accept.split(",").flatMap(readRange);
  const liked = offered.map((offer) => ({ offer, quality: qualityOf(offer, ranges) }));
  const best = Math.max(...liked.map(({ quality }) => quality));
  return best > 0 ? liked.find(({ quality }) => quality === best)?.offer : undefined;
}

/** What cannot be read is left out, as if the client had not said it. Parameters other than `q` make no difference here. */
function readRange(text: string): Range[] {
  const [media = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const [, type, subtype] = /^([^/\s]+)\/([^/\s]+)$/.exec(media) ?? [];
  const q = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
  if (type === undefined || subtype === undefined || !/^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(q)) return [];
  return [{ type, subtype, quality: Number(q) }];
}

/** That of the range that says most about the media type, whatever the order. */
function qualityOf(offer: string, ranges: readonly Range[]): number {
  const [type, subtype] = offer.split("/");
  const exact = ranges.find((range) => range.type === type && range.subtype === subtype);
  const kind = ranges.find((range) => range.type === type && range.subtype === "*");
  const any = ranges.find((range) => range.type === "*" && range.subtype === "*");
  return (exact ?? kind ?? any)?.quality ?? 0;
}
