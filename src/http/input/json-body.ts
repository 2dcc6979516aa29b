/** Parses the body of a request as JSON in UTF-8, after a check of how many levels and values it has. */
import type { FastifyBodyParser, FastifyInstance } from "fastify";
import { ApiError } from "../errors.js";

/** A body parser for `parseAs: "buffer"`. */
export function jsonBody(app: FastifyInstance): FastifyBodyParser<Buffer> {
  const parse = app.getDefaultJsonParser("error", "error");
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  return (request, body, done) => {
    // Many clients send the content type of JSON without a body.
    if (body.length === 0) return done(null, undefined);
    let text: string;
    try {
      requireModestJson(body);
    } catch (error) {
      return done(error as ApiError);
    }
    try {
      text = utf8.decode(body);
    } catch {
      return done(new ApiError("malformed_body", "The body is not text in UTF-8."));
    }
    return parse(request, text, done);
  };
}

/** The deepest body of the API has four levels. */
const MOST_LEVELS = 16;
/** The largest body lists 10,000 ids. */
const MOST_BODY_VALUES = 25_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Throws an `ApiError` for a body of too many levels or values: parsing a megabyte of brackets would block all other
 * requests. It reads each byte once, and does not check whether the
 * body is JSON.
 */
export function requireModestJson(body: Uint8Array): void {
  let levels = 0;
  let values = 1;
  let isQuoted = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0;
    if (isQuoted) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isQuoted = false;
    } else if (byte === QUOTE) isQuoted = true;
    else if (byte === COMMA) values += 1;
    else if (CLOSING.has(byte)) levels -= 1;
    else if (OPENING.has(byte)) {
      levels += 1;
      values += 1;
    }
    if (levels > MOST_LEVELS)
      throw new ApiError(
        "malformed_body",
        `The body must have at most ${MOST_LEVELS} levels of lists and objects.`,
      );
    if (values > MOST_BODY_VALUES)
      throw new ApiError("body_too_large", `The body must have at most ${MOST_BODY_VALUES} values.`);
  }
}
