/**
 * Lists where a request can have text, from the description of the API: path, parameters, their names, headers and
 * bodies.
 */
import type { InjectOptions } from "fastify";
import {
  type ApiDocument,
  type OperationAt,
  operationsOf,
  resolvedParameter,
  resolvedSchema,
  type Schema,
} from "../../../src/http/description/openapi-types.js";
import { percentEncoded } from "./drawing.js";
import type { KnownValues } from "./known-values.js";

/** A value that matches nothing that the service knows. */
export const LITERAL = "matches-nothing";

/** One position for text in a request. */
export interface FuzzedPlace {
  readonly name: string;
  readonly request: (text: string) => InjectOptions;
  /** Encodes the text for this position, as a response may quote it. */
  readonly carried: (text: string) => string;
  /**
   * How a response may differ from that to another text. `code`: it is an error that may suggest the name that was
   * meant. `status`: the body changes by itself. Otherwise the whole body is equal.
   */
  readonly compared?: "code" | "status";
  /** The operation returns an SQL statement with the text as a literal. */
  readonly returnsSql: boolean;
}

/** Lists every position for text in each read, and the filters of the write by filter. */
export function placesOf(document: ApiDocument, known: KnownValues): FuzzedPlace[] {
  const reading = ({ method, operation }: OperationAt) =>
    method === "get" || ["exportChargebacks", "tagDimensionsByFilter"].includes(operation.operationId);
  return operationsOf(document)
    .filter(reading)
    .flatMap((at) => placesIn(at, document, known));
}

function placesIn(at: OperationAt, { components = {} }: ApiDocument, known: KnownValues): FuzzedPlace[] {
  const { operationId, parameters: given = [], requestBody } = at.operation;
  const parameters = given.map((each) => resolvedParameter(each, components));
  const isPaged = parameters.some(({ name }) => name === "page_size");
  const writes = operationId === "tagDimensionsByFilter";
  const tag = { tag_key: "k", display_name: "n", created_by: "a" };
  const base = writes ? { ...tag, identity_id: "nobody" } : {};
  const path = (filled: Record<string, string>) =>
    at.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      percentEncoded(filled[name] ?? known[name]?.[0] ?? LITERAL),
    );
  const needed = parameters.flatMap(({ in: where, name, required }) =>
    where === "query" && required === true ? [name] : [],
  );
  const url = (name?: string, text = "", filled: Record<string, string> = {}) =>
    `${path(filled)}?${[
      ...needed.filter((each) => each !== name).map((each) => `${each}=${known[each]?.[0]}`),
      ...(isPaged && name !== "page_size" ? ["page_size=1"] : []),
      ...(name === undefined ? [] : [`${percentEncoded(name)}=${percentEncoded(text)}`]),
    ].join("&")}`;
  const request = (more: InjectOptions): InjectOptions => ({
    method: at.method === "get" ? "GET" : "POST",
    url: url(),
    ...(at.method === "post" && { payload: base }),
    ...more,
  });
  const place = (
    name: string,
    build: FuzzedPlace["request"],
    compared?: FuzzedPlace["compared"],
  ): FuzzedPlace => ({
    name: `${operationId}: ${name}`,
    request: build,
    carried: (text) => text,
    returnsSql: operationId === "getBreakdownSql",
    ...(operationId === "getMetrics" ? { compared: "status" } : compared && { compared }),
  });
  const query = (name: string) => place(name, (text) => request({ url: url(name, text) }));
  const header = (name: string): FuzzedPlace => ({
    ...place(name, (text) => request({ headers: { [name]: headerSafe(text) } })),
    carried: headerSafe,
  });
  const places = parameters.flatMap(({ in: where, name, schema }): FuzzedPlace[] => {
    if (where === "path")
      return [place(name, (text) => request({ url: url(undefined, "", { [name]: text }) }))];
    if (where === "header") return name === "X-Request-Id" ? [] : [header(name)];
    if (schema["x-prefix"] === undefined) return [query(name)];
    return [query("tag:team"), place("tag:KEY", (text) => request({ url: url(`tag:${text}`, "x") }))];
  });
  if (["aggregateChargebacks", "breakDownChargebacks", "explainChange"].includes(operationId))
    places.push(place("group_by=tag:KEY", (text) => request({ url: url("group_by", `tag:${text}`) })));
  const [content] = Object.values(requestBody?.content ?? {});
  const fields =
    content === undefined
      ? []
      : fieldPlaces(resolvedSchema(content.schema, components), (body) =>
          request({ payload: { ...base, ...body } }),
        );
  return [
    ...places,
    // Texts of tags are stored, and have a test of their own.
    ...fields
      .filter(({ name }) => !writes || !(name in tag))
      .map((each) => place(`body ${each.name}`, each.request)),
    place("an unknown parameter", (text) => request({ url: url(text, "1") }), "code"),
    // These positions are the same for all operations.
    ...(operationId === "listTenants"
      ? ["X-Request-Id", "Accept", "Accept-Encoding", "Origin", "Host"].map(header)
      : []),
    ...(operationId === "exportChargebacks" ? [header("Accept"), header("Content-Type")] : []),
  ];
}

type FieldPlace = Pick<FuzzedPlace, "name" | "request">;

/** Lists each text of a body by itself. */
function fieldPlaces(schema: Schema, request: (body: object) => InjectOptions): FieldPlace[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]): FieldPlace[] => {
    if (field.properties !== undefined)
      return fieldPlaces(field, (body) => request({ [name]: body })).map((place) => ({
        ...place,
        name: `${name}.${place.name}`,
      }));
    if (field.type === "string") return [{ name, request: (text) => request({ [name]: text }) }];
    return field.items?.type === "string" ? [{ name, request: (text) => request({ [name]: [text] }) }] : [];
  });
}

function headerSafe(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?");
}
