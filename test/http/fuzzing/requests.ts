/** Draws requests of an operation from its description: valid ones, valid ones with one fault, and hostile ones. */
import {
  type Components,
  type OperationAt,
  type Parameter,
  resolvedParameter,
  resolvedSchema,
  type Schema,
} from "../../../src/http/description/openapi-types.js";
import fc from "../../property.js";
import { fuzzedBody, noBody } from "./bodies.js";
import type { HttpAnswer } from "./client.js";
import {
  drawn,
  hostileValue,
  type Known,
  type Mood,
  percentEncoded,
  seldom,
  taken,
  value,
} from "./drawing.js";
import { hostileTexts } from "./hostile.js";

export interface FuzzRequest {
  readonly method: string;
  /** The path as sent, percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export function requestsOf(
  { path, method, operation }: OperationAt,
  components: Components,
  known: Known,
): fc.Arbitrary<(known: Known) => FuzzRequest> {
  const parameters = (operation.parameters ?? []).map((each) =>
    withExample(resolvedParameter(each, components)),
  );
  const [content] = Object.values(operation.requestBody?.content ?? {});
  const body = content && whole(content.schema, components);
  return fc.constantFrom<Mood>("right", "right", "mixed", "mixed", "hostile").chain((mood) =>
    fc
      .record({
        path: pathOf(path, parameters, mood, known),
        query: queryOf(parameters, mood, known),
        headers: headersOf(parameters, mood, known),
        body: body === undefined ? fc.constant(noBody) : fuzzedBody(body, mood, known),
      })
      .map((parts) => (now: Known) => {
        const { text, type } = parts.body(now);
        const query = parts.query(now);
        return {
          method: method.toUpperCase(),
          path: parts.path(now) + (query === "" ? "" : `?${query}`),
          headers: { ...parts.headers(now), ...(type !== undefined && { "content-type": type }) },
          body: text,
        };
      }),
  );
}

/** Invalid percent-encodings. */
const brokenEncodings = ["%", "%2", "%zz", "%FF%FE", "%ED%A0%80", "%C0%AF"];

function withExample(parameter: Parameter): Parameter {
  const { schema, example } = parameter;
  return example === undefined ? parameter : { ...parameter, schema: { examples: [example], ...schema } };
}

/** Resolves references. The schemas of bodies have no cycles. */
function whole(given: Schema, components: Components): Schema {
  const { properties, items, ...schema } = resolvedSchema(given, components);
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, whole(field, components)]);
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(fields) }),
    ...(items && { items: whole(items, components) }),
  };
}

function pathOf(path: string, parameters: readonly Parameter[], mood: Mood, known: Known) {
  const draws = parameters
    .filter((parameter) => parameter.in === "path")
    .map(({ name, schema }) => {
      // With a wrong tenant, the service does not check the rest.
      const its = name === "tenant_name" && mood === "mixed" ? "right" : mood;
      return fc.tuple(fc.constant(name), drawn(name, schema, its, known), isBroken(mood));
    });
  return fc.tuple(...draws).map((segments) => (now: Known) => {
    let filled = path;
    for (const [name, draw, broken] of segments)
      filled = filled.replace(`{${name}}`, () => broken ?? percentEncoded(taken(draw, now)));
    return filled;
  });
}

const isBroken = (mood: Mood) =>
  mood === "hostile" ? seldom(20, fc.constantFrom(...brokenEncodings)) : fc.constant(undefined);

function queryOf(parameters: readonly Parameter[], mood: Mood, known: Known) {
  // A cursor belongs to one query, so it is valid only where a response returned it.
  const own = parameters.filter(
    (parameter) => parameter.in === "query" && (parameter.name !== "cursor" || mood !== "right"),
  );
  const draws = own.map(({ name, schema, required = false }) => {
    const item = schema.type === "array" ? (schema.items ?? {}) : schema;
    const prefix = schema["x-prefix"];
    const key =
      prefix === undefined
        ? fc.constant(name)
        : drawn("tag_key", { type: "string", examples: ["team"] }, mood, known).map(
            (draw) => `${prefix}${String("value" in draw ? draw.value : "team")}`,
          );
    const once = fc.tuple(key, drawn(prefix === undefined ? name : "tag_names", item, mood, known));
    const repeats = schema.type === "array" || prefix !== undefined || mood === "hostile" ? 3 : 1;
    return fc.oneof(
      { weight: mood === "hostile" ? 1 : required ? 0 : 3, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.array(once, { minLength: 1, maxLength: repeats }) },
    );
  });
  const unknown =
    mood === "right"
      ? fc.constant(undefined)
      : seldom(8, fc.tuple(fc.constantFrom(...hostileTexts), hostileValue({})));
  return fc.tuple(fc.tuple(...draws), unknown).map(([given, more]) => (now: Known) => {
    const pairs = [...given.flat(), ...(more === undefined ? [] : [more])].map(
      ([name, draw]) => `${percentEncoded(name)}=${percentEncoded(taken(draw, now))}`,
    );
    return (mood === "right" ? withoutClash(pairs) : pairs).join("&");
  });
}

/** Some parameters exclude or require each other. A valid request has one of them, or both. */
function withoutClash(pairs: readonly string[]): readonly string[] {
  const has = (name: string) => pairs.some((pair) => pair.startsWith(`${name}=`));
  const isPeriod = !has("active_at") && has("period_start") && has("period_end");
  return isPeriod ? pairs : pairs.filter((pair) => !pair.startsWith("period_"));
}

const accepted = [
  "*/*",
  "application/json",
  "text/csv",
  "application/vnd.apache.parquet",
  "application/vnd.apache.arrow.stream",
];

function headersOf(parameters: readonly Parameter[], mood: Mood, known: Known) {
  const own = parameters
    .filter((parameter) => parameter.in === "header")
    .map(({ name, schema }) =>
      fc.tuple(
        fc.constant(name.toLowerCase()),
        fc.option(drawn(name, schema, mood, known), { nil: undefined }),
      ),
    );
  const common = [
    fc.tuple(
      fc.constant("accept"),
      fc.option(mood === "right" ? value(fc.constantFrom(...accepted)) : hostileValue({}), {
        nil: undefined,
      }),
    ),
    fc.tuple(
      fc.constant("accept-encoding"),
      fc.option(value(fc.constantFrom("gzip", "br, gzip", "identity", "*", "gzip;q=0")), { nil: undefined }),
    ),
    fc.tuple(
      fc.constant("origin"),
      fc.option(mood === "right" ? value(fc.constant("https://console.example.org")) : hostileValue({}), {
        freq: 2,
        nil: undefined,
      }),
    ),
  ];
  return fc.tuple(...own, ...common).map((draws) => (now: Known) => {
    const headers = draws.flatMap(([name, draw]) =>
      draw === undefined ? [] : [[name, headerText(taken(draw, now))]],
    );
    return Object.fromEntries(headers);
  });
}

/** Characters that HTTP permits in a header. */
function headerText(text: unknown): string {
  return String(text)
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "?")
    .slice(0, 4000);
}

/** Draws the client's next request: the rows behind a page, or a revalidation of what the client has. */
export function nextRequests(request: FuzzRequest, { etag, json }: HttpAnswer): FuzzRequest[] {
  if (request.method !== "GET") return [];
  const cursor = typeof json === "object" && json !== null && "next_cursor" in json ? json.next_cursor : null;
  const [path = "", query = ""] = request.path.split("?", 2);
  const pairs = query.split("&").filter((pair) => pair !== "" && !/^(page|cursor)=/.test(pair));
  return [
    ...(typeof cursor === "string"
      ? [{ ...request, path: `${path}?${[...pairs, `cursor=${cursor}`].join("&")}` }]
      : []),
    ...(etag === undefined ? [] : [{ ...request, headers: { ...request.headers, "if-none-match": etag } }]),
  ];
}
