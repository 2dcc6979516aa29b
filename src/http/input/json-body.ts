/** Parses the body of a request as JSON in UTF-8. */
import type { FastifyBodyParser, FastifyInstance } from "fastify";
import { ApiError } from "../errors.js";
import { requireModestJson } from "./modest-json.js";

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
