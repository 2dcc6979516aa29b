/** Creates, lists and revokes tokens of the API. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { type Static, Type } from "@sinclair/typebox";
import { createToken, revokeToken } from "../../postgres/tokens.js";
import { readTokens } from "../../query/state/tokens.js";
import type { HttpContext } from "../context.js";
import { ApiError, invalidRequest } from "../errors.js";
import { newTokenSchema, tokenInputSchema, tokenPathSchema, tokenSchema } from "../schemas/access.js";
import { bodyProblems, problemResponses } from "../schemas/problem.js";

const problems = ["tokens_not_used", "store_unavailable", "request_timeout"] as const;
const routeConfig = {
  scope: "admin",
  everyTenant: true,
  heavy: false,
  etag: false,
  showsTags: false,
} as const;

export const tokenRoutes =
  ({ config, stores: { postgres } }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    // With `api.auth: none` every caller may do everything. Nobody should be able to create a token that is valid after
    // that changes.
    const requireTokens = () => {
      if (config.api.auth === "none")
        throw new ApiError("tokens_not_used", "`api.auth` is none: there are no tokens.");
    };

    app.get(
      "/tokens",
      {
        config: routeConfig,
        schema: {
          operationId: "listTokens",
          tags: ["Access"],
          summary: "Tokens",
          description: "All tokens, including expired and revoked ones, the newest first.",
          response: {
            200: Type.Array(tokenSchema, { description: "The tokens." }),
            ...problemResponses(...problems),
          },
        },
      },
      async ({ stopSignal }) => {
        requireTokens();
        return await readTokens(postgres, {}, stopSignal);
      },
    );

    app.post(
      "/tokens",
      {
        config: routeConfig,
        schema: {
          operationId: "createToken",
          tags: ["Access"],
          summary: "Create a token",
          description: "The token itself is only shown in this response.",
          body: tokenInputSchema,
          response: { 200: newTokenSchema, ...problemResponses(...problems, ...bodyProblems) },
        },
      },
      async (request) => {
        requireTokens();
        const { name, scopes, days } = request.body;
        const tenants = tenantsOf(request.body, config);
        const input = { name, scopes: [...new Set(scopes)], tenants, days };
        const { token_id: tokenId, token } = await createToken(
          postgres,
          input,
          request.actor(),
          request.interruption,
        );
        const [created] = await readTokens(postgres, { tokenId }, request.stopSignal);
        if (created === undefined) throw new Error("a token was created and cannot be found");
        return { ...created, token };
      },
    );

    app.delete(
      "/tokens/:token_id",
      {
        config: routeConfig,
        schema: {
          operationId: "revokeToken",
          tags: ["Access"],
          summary: "Revoke a token",
          description: "The token is refused from the next request on. Its entry stays in the list.",
          params: tokenPathSchema,
          response: {
            200: tokenSchema,
            ...problemResponses(...problems, "token_not_found", ...bodyProblems),
          },
        },
      },
      async (request) => {
        requireTokens();
        const { token_id: tokenId } = request.params;
        await revokeToken(postgres, tokenId, request.actor(), request.interruption);
        const [revoked] = await readTokens(postgres, { tokenId }, request.stopSignal);
        if (revoked === undefined) throw new ApiError("token_not_found", `There is no token ${tokenId}.`);
        return revoked;
      },
    );
  };

/** Returns null for every tenant. Throws unless the body has either `every_tenant` or names of configured tenants. */
function tenantsOf(
  { tenants, every_tenant }: Pick<Static<typeof tokenInputSchema>, "tenants" | "every_tenant">,
  config: HttpContext["config"],
): string[] | null {
  const refuse = (detail: string) =>
    invalidRequest([{ in: "body", name: "tenants", detail, code: "invalid" }]);
  if (every_tenant !== (tenants === undefined))
    throw refuse("The body must have either `tenants` or `every_tenant: true`.");
  const unknown = tenants?.find((name) => !config.tenants.has(name));
  if (unknown !== undefined)
    throw refuse(
      `\`tenants\` must be names of configured tenants; ${JSON.stringify(unknown.slice(0, 100))} is not one.`,
    );
  return tenants === undefined ? null : [...new Set(tenants)];
}
