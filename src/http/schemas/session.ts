/** Sessions of browsers, and how users sign in. */
import { Type } from "@sinclair/typebox";
import { authModes } from "../../config/settings/api.js";
import { sessionKinds } from "../../query/state/sessions.js";
import { choiceSchema, instantSchema, nullableText, textSchema } from "./fields.js";
import { inputOf } from "./parameters.js";

const sessionId = { description: "Id of the session.", minimum: 1, examples: [7] };

export const signInOptionsSchema = Type.Object(
  {
    auth: choiceSchema(authModes, {
      description: "How callers are authenticated (`api.auth`).",
      examples: ["oidc"],
    }),
    issuer_name: nullableText({
      description: "Name of the issuer at which users sign in; null if they cannot (`api.oidc.client_id`).",
      examples: ["login.example.org"],
    }),
  },
  { title: "SignInOptions", description: "How users sign in." },
);

export const sessionSchema = Type.Object(
  {
    session_id: Type.Integer(sessionId),
    kind: choiceSchema(sessionKinds, {
      description: "`token`: it stands for a token. `oidc`: for a user who signed in at the issuer.",
      examples: ["oidc"],
    }),
    name: textSchema("Name of the token or of the user.", "ada@example.org"),
    token_id: Type.Unsafe<number | null>({
      type: ["integer", "null"],
      description: "Id of the token; null if the session stands for a user.",
      examples: [null],
    }),
    address: nullableText({ description: "Address of the sign-in.", examples: ["10.1.2.3"] }),
    signed_in_at: instantSchema("When the user signed in."),
    last_used_at: instantSchema("When it was last used, to the minute."),
    expires_at: instantSchema("When it ends at the latest. It ends earlier if it is not used."),
  },
  { title: "Session", description: "A session of a browser." },
);

export const beganSessionSchema = Type.Object(
  { session_id: Type.Integer(sessionId) },
  { title: "BeganSession", description: "A new session, whose secret is in the cookie." },
);

export const endedSessionsSchema = Type.Object(
  {
    ended_count: Type.Integer({ description: "How many sessions ended.", minimum: 0, examples: [1] }),
  },
  { title: "EndedSessions", description: "How many sessions ended." },
);

export const signOutParameters = inputOf({
  everywhere: Type.Boolean({
    description: "Whether all sessions of the caller end: those of its token, or of the user.",
    default: false,
  }),
});

export const sessionPathSchema = Type.Object({
  session_id: Type.Integer({ ...sessionId, maximum: Number.MAX_SAFE_INTEGER }),
});
