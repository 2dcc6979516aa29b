/** The OpenAPI document and `/docs`: made from the schemas that requests are checked by. Everything they load comes from here. */
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import fp from "fastify-plugin";
import type { HttpContext } from "../context.js";
import { completeDocument } from "../description/complete.js";
import type { ApiDocument } from "../description/document.js";
import { forTrying } from "../description/try-it-out.js";

/** Sees the routes that are registered behind it. */
export const openapi = fp<Pick<HttpContext, "config" | "version">>(
  async (app, { config, version }) => {
    // Whoever may see the page may not see them all, where not everybody may.
    const tenants = config.api.auth === "none" ? [...config.tenants.keys()] : [];
    await app.register(swagger, {
      openapi: {
        openapi: "3.1.0",
        info: {
          title: "chargehouse",
          version,
          description:
            "Costs of a bill, allocated exactly to the identities that caused them.\n\nAmounts are decimals as text. Dates are inclusive at " +
            "both ends. Errors are `application/problem+json` with a stable `code`; every invalid request is 400, including one with an " +
            "unknown parameter. `X-Request-Id` is accepted and returned. Who may do what is up to `api.auth` of the configuration: each operation " +
            "names the scope that it needs.",
          contact: { name: "chargehouse" },
          license: { name: "Apache-2.0", identifier: "Apache-2.0" },
        },
        servers: [{ url: "/", description: "This service" }],
        components: {
          securitySchemes: {
            token: {
              type: "http",
              scheme: "bearer",
              description:
                "A token, sent as `Authorization: Bearer TOKEN`, or as the password of HTTP Basic authentication with any user name. With `api.auth: none` nobody is asked for one.",
            },
          },
        },
        tags: [
          { name: "Health", description: "Liveness and readiness." },
          { name: "Access", description: "Who calls, and tokens." },
          { name: "Tenants", description: "Configured tenants and the state of their days." },
          { name: "Billing", description: "Billed costs." },
          { name: "Rules", description: "Allocation rules: what they took, and what they left." },
          { name: "Chargebacks", description: "Chargebacks: the part of each cost that each identity pays." },
          { name: "Topics", description: "Which topics the costs of Kafka clusters come from." },
          { name: "Tags", description: "Labels of your own on chargeback dimensions." },
          { name: "Export", description: "Chargebacks as a file." },
          { name: "Inventory", description: "Resources and identities, now and at any time before." },
          { name: "Pipeline", description: "Runs of the pipeline: gather, calculate, publish." },
          { name: "Deliveries", description: "Bills as they were delivered as files." },
          { name: "Usage", description: "Usage that is uploaded, for rules `by: usage`." },
        ],
      },
      transformObject: (given) => {
        // To our types and back, by way of plain JSON.
        const document: ApiDocument = plain("openapiObject" in given ? given.openapiObject : {});
        return plain(completeDocument(document));
      },
    });
    await app.register(swaggerUi, {
      routePrefix: "/docs",
      // Nothing from elsewhere. Unlike the default it does not turn http into https, so that it works without a proxy too.
      staticCSP:
        "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; object-src 'none'; frame-ancestors 'none'",
      transformSpecification: (given) => plain(forTrying(plain(given), tenants)),
      theme: { title: "chargehouse API" },
      uiConfig: { deepLinking: true, layout: "BaseLayout" },
    });
  },
  { name: "openapi" },
);

function plain(value: unknown) {
  return JSON.parse(JSON.stringify(value));
}
