/** The caller, and tokens. */
import { type TSchema, Type } from "@sinclair/typebox";
import { authModes } from "../../config/settings/api.js";
import { scopes } from "../../domain/scopes.js";
import { DEFAULT_DAYS, MAX_DAYS, TOKEN_NAME } from "../../postgres/tokens.js";
import { tokenStates } from "../../query/state/tokens.js";
import { choiceSchema, instantSchema, nullableText, textSchema } from "./fields.js";
import { inputOf } from "./parameters.js";

const scope = choiceSchema(scopes, {
  description: "`tags` and `assign` include `read`; `admin` includes all others.",
  examples: ["read"],
});

const nullableList = (item: TSchema, options: { description: string; examples: unknown[] }) =>
  Type.Unsafe<string[] | null>({ type: ["array", "null"], items: item, ...options });

const nullableInstant = (description: string) =>
  nullableText({ description: `${description} UTC.`, format: "date-time", examples: [null] });

export const meSchema = Type.Object(
  {
    auth: choiceSchema(authModes, {
      description: "How callers are authenticated (`api.auth`).",
      examples: ["tokens"],
    }),
    name: nullableText({ description: "Name of the caller; null if `api.auth` is none.", examples: ["bi"] }),
    session_id: Type.Unsafe<number | null>({
      type: ["integer", "null"],
      description: "Id of the session whose cookie authenticated the request; null if none did.",
      examples: [null],
    }),
    scopes: Type.Array(scope, { description: "Scopes of the caller.", examples: [["read"]] }),
    every_tenant: Type.Boolean({
      description: "Whether the caller may see every tenant.",
      examples: [false],
    }),
    tenants: Type.Array(textSchema("Name of a tenant.", "acme"), {
      description: "Configured tenants that the caller may see, in the order of the configuration.",
    }),
    ecosystems: Type.Record(Type.String(), Type.String(), {
      description: "The ecosystem of each of these tenants, by the tenant's name.",
      examples: [{ acme: "confluent_cloud" }],
    }),
  },
  { title: "Me", description: "The caller and its permissions." },
);

const record = {
  token_id: Type.Integer({ description: "Id of the token.", minimum: 1, examples: [3] }),
  name: textSchema("Name of its user, which the audit and new labels show.", "bi"),
  scopes: Type.Array(scope, { description: "Scopes of the token.", examples: [["read"]] }),
  tenants: nullableList(textSchema("Name of a tenant.", "acme"), {
    description: "Names of the tenants that it is valid for; null: all.",
    examples: [["acme"]],
  }),
  state: choiceSchema(tokenStates, { description: "Only a `valid` token is accepted.", examples: ["valid"] }),
  created_by: nullableText({ description: "Who created it.", examples: ["command:ada"] }),
  created_at: instantSchema("When it was created."),
  expires_at: instantSchema("When it expires."),
  last_used_at: nullableInstant("When it was last used, to the hour; null: never."),
  revoked_at: nullableInstant("When it was revoked; null if it was not."),
};

export const tokenSchema = Type.Object(record, {
  title: "Token",
  description: "A token, without its secret text.",
});

export const newTokenSchema = Type.Object(
  {
    ...record,
    token: Type.String({
      description: "The token itself. It is only shown in this response.",
      examples: ["chgt_n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg"],
    }),
  },
  { title: "NewToken", description: "A new token." },
);

const MOST_TENANTS = 1000;

export const tokenInputSchema = inputOf(
  {
    name: Type.String({
      description: "Name of its user, which the audit and new labels show.",
      pattern: TOKEN_NAME.pattern,
      "x-expected": TOKEN_NAME.expected,
      examples: ["bi"],
    }),
    scopes: Type.Array(scope, {
      description: "Scopes of the token.",
      minItems: 1,
      maxItems: scopes.length,
      "x-expected": `a list of ${scopes.join(", ")}`,
      examples: [["read"]],
    }),
    tenants: Type.Optional(
      Type.Array(textSchema("Name of a tenant.", "acme"), {
        description: "Names of the tenants that it is valid for. Required unless `every_tenant` is true.",
        minItems: 1,
        maxItems: MOST_TENANTS,
        "x-expected": `a list of 1 to ${MOST_TENANTS} names of tenants`,
        examples: [["acme"]],
      }),
    ),
    every_tenant: Type.Boolean({
      description: "Whether it is valid for every tenant, including future ones.",
      default: false,
    }),
    days: Type.Integer({
      description: "How long it is valid, in days.",
      minimum: 1,
      maximum: MAX_DAYS,
      default: DEFAULT_DAYS,
    }),
  },
  { title: "TokenInput" },
);

export const tokenPathSchema = Type.Object({
  token_id: Type.Integer({
    description: "Id of the token.",
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    examples: [3],
  }),
});
