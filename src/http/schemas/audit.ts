/** Entries of the audit. */
import { Type } from "@sinclair/typebox";
import { actorKinds } from "../../query/state/audit.js";
import { choiceSchema, instantSchema, nullableText, textSchema } from "./fields.js";

const filter = (description: string, example: string) =>
  Type.Optional(Type.String({ description, minLength: 1, maxLength: 200, examples: [example] }));

export const auditFilters = {
  actor: filter("Only entries of this actor.", "ada"),
  action: filter("Only entries of this operation.", "deleteTag"),
};

export const auditEntrySchema = Type.Object(
  {
    audit_id: Type.Integer({
      description: "Id of the entry; a later one is larger.",
      minimum: 1,
      examples: [42],
    }),
    at: instantSchema("When the change was made."),
    actor: nullableText({ description: "Who made it; null if `api.auth` is none.", examples: ["ada"] }),
    actor_kind: choiceSchema(actorKinds, {
      description:
        "How the actor was authenticated. `anyone`: `api.auth` is none. `command`: a user of the machine, on the command line.",
      examples: ["token"],
    }),
    token_id: Type.Unsafe<number | null>({
      type: ["integer", "null"],
      description: "Token that was used; null if none was.",
      examples: [3],
    }),
    address: nullableText({ description: "Address that the request came from.", examples: ["10.1.2.3"] }),
    request_id: nullableText({ description: "`X-Request-Id` of the request.", examples: ["trace-7"] }),
    tenant_name: nullableText({
      description: "Tenant whose data was changed; null if the change was not to data of a tenant.",
      examples: ["acme"],
    }),
    action: textSchema("Name of the operation.", "addDimensionTag"),
    subject: Type.Record(Type.String(), Type.Any(), {
      description:
        "What was changed: path parameters, the body, new ids, and the labels that were removed or renamed, as they were before. Long lists are cut.",
      examples: [{ dimension_id: 4670551728646912, tag_key: "team", display_name: "Platform" }],
    }),
  },
  { title: "AuditEntry" },
);
