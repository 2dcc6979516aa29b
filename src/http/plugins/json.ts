/** Parses bodies as JSON, and validates each part of a request by the schemas of its route. */
import { KindGuard } from "@sinclair/typebox";
import fp from "fastify-plugin";
import { jsonBody } from "../input/json-body.js";
import { refuseMalformedQuery } from "../input/malformed-query.js";
import { validatorCompiler } from "../input/validator.js";

/** False for routes such as liveness, which accept any query and ignore it. */
const readsQuery = (schema: unknown) => KindGuard.IsObject(schema) && schema.additionalProperties !== true;

export const json = fp(
  async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("application/json", { parseAs: "buffer" }, jsonBody(app));
    app.addHook("preValidation", async ({ raw, routeOptions }) => {
      if (readsQuery(routeOptions.schema?.querystring)) refuseMalformedQuery(raw.url ?? "");
    });
    app.setValidatorCompiler(validatorCompiler);
  },
  { name: "json" },
);
