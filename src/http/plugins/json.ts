/** What a request says is JSON, and is read by the schemas of its route. */
import fp from "fastify-plugin";
import { validatorCompiler } from "../input/validator.js";

export const json = fp(
  async (app) => {
    const parse = app.getDefaultJsonParser("error", "error");
    app.removeAllContentTypeParsers();
    app.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, body, done) => {
      // Many clients name JSON as the type of a body that they do not send: that is no body.
      if (body === "") done(null, undefined);
      else parse(request, body, done);
    });
    app.setValidatorCompiler(validatorCompiler);
  },
  { name: "json" },
);
