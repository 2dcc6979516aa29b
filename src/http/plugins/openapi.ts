/**
 * The OpenAPI document and the page at `/docs`. Both are generated from the schemas that validate requests. The page
 * loads nothing from other hosts.
 */
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import fp from "fastify-plugin";
import type { HttpContext } from "../context.js";
import { completeDocument } from "../description/complete.js";
import { introduction } from "../description/introduction.js";
import type { ApiDocument } from "../description/openapi-types.js";
import { forTrying } from "../description/try-it-out.js";

/** Documents the routes that are registered after it. */
export const openapi = fp<Pick<HttpContext, "config" | "version">>(
  async (app, { config, version }) => {
    // With credentials, a caller who may see the page may not see all tenants.
    const tenants = config.api.auth === "none" ? [...config.tenants.keys()] : [];
    await app.register(swagger, {
      openapi: {
        openapi: "3.1.0",
        info: {
          title: "chargehouse",
          version,
          description: introduction,
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
                "A token, sent as `Authorization: Bearer TOKEN`, or as the password of HTTP Basic authentication with any user name. With `api.auth: none` no credentials are required.",
            },
          },
        },
        tags: [
          { name: "Health", description: "Liveness and readiness." },
          { name: "Access", description: "The caller, sessions of browsers, tokens and the audit." },
          { name: "Tenants", description: "Configured tenants and the state of their days." },
          { name: "Billing", description: "Billed costs." },
          {
            name: "Rules",
            description: "Allocation rules: the lines that they matched, and unallocated lines.",
          },
          { name: "Chargebacks", description: "Chargebacks: the part of each cost that each identity pays." },
          { name: "Topics", description: "Which topics the costs of Kafka clusters come from." },
          {
            name: "Tags",
            description: "Labels of your own on chargeback dimensions. They change nothing about who pays.",
          },
          {
            name: "Assignments",
            description:
              "Resources that people assigned to identities, which changes who pays; causes of allocation issues that people accept for some time, which does not.",
          },
          { name: "Export", description: "Chargebacks as a file." },
          { name: "Inventory", description: "Resources and identities, now and at any time before." },
          { name: "Pipeline", description: "Runs of the pipeline: gather, calculate, publish." },
          { name: "Deliveries", description: "Bills as they were delivered as files." },
          { name: "Usage", description: "Usage that is uploaded, for rules `by: usage`." },
        ],
      },
      transformObject: (given) => {
        // Plain JSON converts between the types of the plugin and ours.
        const document: ApiDocument = plain("openapiObject" in given ? given.openapiObject : {});
        return plain(completeDocument(document));
      },
    });
    await app.register(swaggerUi, {
      routePrefix: "/docs",
      // Allows only files of this service. Unlike the default, it does not upgrade http to https, so that it also works
      // without a proxy.
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
