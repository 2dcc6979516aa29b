/** Sessions of browsers: signs users in with a token, signs them out, lists and ends sessions. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { Type } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import { createSession, type EndedSessions, endSessions } from "../../postgres/sessions.js";
import { readSessions } from "../../query/state/sessions.js";
import { sessionRules } from "../auth/authenticate.js";
import { removeCookie, setCookie } from "../auth/cookies.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";
import { isSameOrigin } from "../plugins/host-and-origin.js";
import { bodyProblems, problemResponses } from "../schemas/problem.js";
import {
  beganSessionSchema,
  endedSessionsSchema,
  sessionPathSchema,
  sessionSchema,
  signInOptionsSchema,
  signOutParameters,
} from "../schemas/session.js";

const unheavy = { heavy: false, etag: false, showsTags: false } as const;
const ofAnybody = { ...unheavy, scope: "any" } as const;
const ofAdmins = { ...unheavy, scope: "admin", everyTenant: true } as const;
const problems = ["store_unavailable", "request_timeout"] as const;

export const sessionRoutes =
  ({ config: { api }, stores: { postgres } }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rules = sessionRules(api);

    app.get(
      "/sign-in",
      {
        config: { ...unheavy, scope: "public" },
        schema: {
          operationId: "getSignInOptions",
          tags: ["Access"],
          summary: "How users sign in",
          description: "For the sign-in page. It needs no credentials.",
          response: { 200: signInOptionsSchema, ...problemResponses() },
        },
      },
      async () => ({
        auth: api.auth,
        issuer_name:
          api.console && rules.issuer !== undefined
            ? (api.oidc?.issuer_name ?? new URL(rules.issuer).host)
            : null,
      }),
    );

    app.post(
      "/session",
      {
        config: ofAnybody,
        schema: {
          operationId: "signIn",
          tags: ["Access"],
          summary: "Begin a session with a token",
          description:
            "For the console: the cookie of the response stands for the token, which is in `Authorization`, in all tabs of the browser.",
          response: {
            200: beganSessionSchema,
            ...problemResponses("session_needs_token", ...bodyProblems, ...problems),
          },
        },
      },
      async (request, reply) => {
        const { kind, tokenId, sessionId } = request.caller;
        if (kind !== "token" || tokenId === undefined || sessionId !== undefined)
          throw new ApiError("session_needs_token", "A session begins with a token in `Authorization`.");
        // Not even the pages of `api.cors_origins` may give a browser a session of their choice.
        if (!isSameOrigin(request.headers))
          throw new ApiError("cross_site_request", "Only a page of this service can begin a session.");
        const { session_id, secret } = await createSession(
          postgres,
          { token_id: tokenId },
          rules,
          request.actor(),
          request.interruption,
        );
        app.signOns.succeeded(secret);
        setCookie(request, reply, "chargehouse-session", secret);
        return { session_id };
      },
    );

    app.delete(
      "/session",
      {
        config: ofAnybody,
        schema: {
          operationId: "signOut",
          tags: ["Access"],
          summary: "End the session",
          description: "Ends the session of the request's cookie, or all sessions of the caller.",
          querystring: signOutParameters,
          response: { 200: endedSessionsSchema, ...problemResponses(...bodyProblems, ...problems) },
        },
      },
      async (request, reply) => {
        removeCookie(request, reply, "chargehouse-session");
        const which = request.query.everywhere ? allOf(request) : ownOf(request);
        return { ended_count: which === undefined ? 0 : await end(request, which, "signOut") };
      },
    );

    app.get(
      "/sessions",
      {
        config: ofAdmins,
        schema: {
          operationId: "listSessions",
          tags: ["Access"],
          summary: "Sessions",
          description: "All sessions that are valid, the newest first.",
          response: {
            200: Type.Array(sessionSchema, { description: "The sessions." }),
            ...problemResponses(...problems),
          },
        },
      },
      async ({ stopSignal }) => await readSessions(postgres, rules, stopSignal),
    );

    app.delete(
      "/sessions/:session_id",
      {
        config: ofAdmins,
        schema: {
          operationId: "endSession",
          tags: ["Access"],
          summary: "End a session of any user",
          description: "Its cookie is refused from the next request on.",
          params: sessionPathSchema,
          response: {
            200: endedSessionsSchema,
            ...problemResponses("session_not_found", ...bodyProblems, ...problems),
          },
        },
      },
      async (request) => {
        const { session_id } = request.params;
        const ended_count = await end(request, { session_id }, "endSession");
        if (ended_count === 0) throw new ApiError("session_not_found", `There is no session ${session_id}.`);
        return { ended_count };
      },
    );

    async function end(request: FastifyRequest, which: EndedSessions, action: "signOut" | "endSession") {
      return await endSessions(postgres, which, request.actor(), action, request.interruption);
    }

    function allOf({ caller: { name, tokenId } }: FastifyRequest): EndedSessions | undefined {
      if (tokenId !== undefined) return { token_id: tokenId };
      return rules.issuer === undefined || name === null ? undefined : { issuer: rules.issuer, name };
    }
  };

function ownOf({ caller: { sessionId } }: FastifyRequest): EndedSessions | undefined {
  return sessionId === undefined ? undefined : { session_id: sessionId };
}
