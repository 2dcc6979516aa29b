import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { KindGuard, type TSchema } from "@sinclair/typebox";
import { Ajv } from "ajv";
import t from "tap";
import { programArguments } from "../../src/common/program.js";
import { describeConfig } from "../../src/config/describe.js";
import { schemaDocument } from "../../src/config/documents.js";
import { loadConfig } from "../../src/config/load.js";
import { entriesOf, isRecord, itemDefinition } from "../../src/config/reader/parts.js";
import { type ConfigProblem, type Path, pathText } from "../../src/config/reader/problem.js";
import { formOfKind, notesOf, openValue } from "../../src/config/reader/setting.js";
import { configSchema } from "../../src/config/schema.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { temporaryFolder } from "../stores.js";
import { allSettings } from "./all-settings.js";
import { type Json, type JsonMapping, wholeDocuments } from "./whole-documents.js";

const schema = configSchema(ecosystems);
const isTakenBySchema = new Ajv({ strict: false }).compile(JSON.parse(schemaDocument(ecosystems)));
const folder = temporaryFolder(t);
writeFileSync(join(folder, "owners.csv"), "value,identity\nr-1,ann\n");
const file = join(folder, "chargehouse.yaml");
const load = (text: string) => loadConfig(text, { file, env: {}, ecosystems, folder });

interface Place {
  readonly document: JsonMapping;
  readonly path: Path;
  readonly definition: TSchema;
}

/** Returns the variant of the schema that applies to the value. */
function formOf(definition: TSchema, value: Json): TSchema {
  const { discriminator, byKind } = notesOf(definition);
  const kind = Array.isArray(value) ? "list" : isRecord(value) ? "mapping" : "scalar";
  if (byKind) return formOfKind(definition, kind) ?? definition;
  if (discriminator === undefined || !KindGuard.IsUnion(definition) || !isRecord(value)) return definition;
  const forms = definition.anyOf.filter(KindGuard.IsObject);
  return (
    forms.find(({ properties }) => properties[discriminator.key]?.const === value[discriminator.key]) ??
    definition
  );
}

function placesIn(document: JsonMapping, value: Json, definition: TSchema, path: Path): Place[] {
  const form = formOf(definition, value);
  const here: Place[] = [{ document, path, definition: form }];
  if (Array.isArray(value)) {
    const item = itemDefinition(form);
    if (item === undefined) return here;
    return [
      ...here,
      ...value.flatMap((each: Json, index) => placesIn(document, each, item, [...path, index])),
    ];
  }
  if (!isRecord(value)) return here;
  const below = entriesOf(form, value).flatMap(({ key, part, definition: own }) =>
    own === undefined ? [] : placesIn(document, part as Json, own, [...path, key]),
  );
  return [...here, ...below];
}

/** Returns one position for each setting, of all documents and lists that contain it. */
function placeOfEach(): Place[] {
  const first = new Map<TSchema, Place>();
  for (const document of Object.values(wholeDocuments))
    for (const place of placesIn(document, document, schema, []))
      if (place.path.length > 0 && !first.has(place.definition)) first.set(place.definition, place);
  return [...first.values()];
}

/** Returns the document with a changed value at the path. */
function changed(value: Json, path: Path, change: (value: Json) => Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) return change(value);
  if (Array.isArray(value))
    return value.map((each: Json, index) => (index === step ? changed(each, rest, change) : each));
  if (!isRecord(value)) throw new Error(`nothing at ${pathText(path)}`);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      key === step ? changed(each as Json, rest, change) : (each as Json),
    ]),
  );
}

const LONG = "x".repeat(10_000);

/** Wrong values by kind, as JSON, so that the JSON Schema can check them, too. */
const values = {
  scalar: {
    null: null,
    "a number": 7,
    "a negative number": -1,
    "a fraction": 1.5,
    "a huge number": 1e300,
    true: true,
    "a text": "x",
    "an empty text": "",
    "a long text": LONG,
    "control characters": "a\u0000\u0007b",
    "half of a pair": "\ud800",
    "a pattern that is none": "(*[",
    "an address that is none": "http://:@[::1",
    "a variable that is not set": `\${NOT_SET}`,
    "a variable that is not closed": `\${NOT`,
  },
  list: {
    "an empty list": [],
    "a list of nothing": [null],
    "a list of lists": [[]],
    "a list of mappings": [{}],
    "the same twice": ["x", "x"],
    "a long list": Array.from({ length: 101 }, (_, index) => `x${index}`),
  },
  mapping: {
    "an empty mapping": {},
    "a mapping of nothing": { x: null },
    "an empty key": { "": "x" },
    "keys that every object has": JSON.parse('{"__proto__": {"x": 1}, "constructor": "x", "toString": "x"}'),
  },
} as const satisfies Record<string, Record<string, Json>>;

/**
 * Returns all values of the kinds that a setting reads, and the first two of the other kinds, which it refuses as such.
 */
function valuesFor(definition: TSchema): [string, Json][] {
  const kinds = ["scalar", "list", "mapping"] as const;
  return kinds.flatMap((kind) => {
    const all = Object.entries<Json>(values[kind]);
    return formOfKind(definition, kind) === undefined ? all.slice(0, 2) : all;
  });
}

/** Patterns that must not appear in a message for people. */
const INSIDE = /\n|^\s+at |Error\b|undefined|\[object|\bNaN\b/;

/** Returns faults in how a text is handled. It may be refused at another key if a rule involves both. */
function faultsOf(text: string, path: Path, mustBeRefused: boolean): string[] {
  try {
    const result = load(text);
    if (result.ok) describeConfig(result.config, ecosystems);
    if (result.ok) return mustBeRefused ? ["is taken, and the JSON Schema refuses it"] : [];
    const named = result.problems.some((problem) => isAt(path, problem));
    return [
      ...(mustBeRefused && !named ? [`no problem names it: ${pathText(path)}`] : []),
      ...result.problems.flatMap(faultsOfProblem),
    ];
  } catch (error) {
    return [`throws ${error}`];
  }
}

/** True if the problem is at the key or below it. */
function isAt(path: Path, problem: ConfigProblem): boolean {
  const key = pathText(path);
  return [key, `${key}.`, `${key}[`].some((start, index) =>
    index === 0 ? problem.path === start : problem.path.startsWith(start),
  );
}

function faultsOfProblem({ path, line, file: named, message }: ConfigProblem): string[] {
  const faults: string[] = [];
  if (path === "" || line < 1 || named !== file) faults.push("a problem has no place");
  if (message.length > 3000 || message.includes(LONG.slice(0, 100))) faults.push("a problem is too long");
  if (INSIDE.test(message)) faults.push("a problem shows what is inside");
  return faults.map((fault) => `${fault}: ${path}: ${message.slice(0, 200)}`);
}

const places = placeOfEach();

t.test("the generated documents are valid and contain every key", async (t) => {
  for (const [name, document] of Object.entries(wholeDocuments)) {
    const result = load(JSON.stringify(document));
    t.strictSame(result.ok ? [] : result.problems, [], name);
    t.ok(isTakenBySchema(document), name);
  }
  const reached = new Set(places.map(({ definition }) => definition));
  const missed = allSettings(schema, "").filter(([path, setting]) => path !== "" && !reached.has(setting));
  t.strictSame([...new Set(missed.map(([path]) => path))], []);
});

t.test("every key refuses every kind of wrong value with a problem", async (t) => {
  const count = { tried: 0, refused: 0 };
  const faults: string[] = [];
  for (const { document, path, definition } of places)
    for (const [name, value] of valuesFor(definition)) {
      const whole = changed(document, path, () => value);
      const mustBeRefused = !isTakenBySchema(whole);
      count.tried += 1;
      if (mustBeRefused) count.refused += 1;
      for (const fault of faultsOf(JSON.stringify(whole), path, mustBeRefused))
        faults.push(`${pathText(path)}, ${name}: ${fault}`);
    }
  t.strictSame(faults, []);
  t.comment(
    `${places.length} keys, ${count.tried} values, ${count.refused} of them refused by the JSON Schema`,
  );
});

/** Values that JSON cannot express. */
const MARK = "what stands here is replaced";

t.test("every key handles values that only YAML can express", async (t) => {
  const withText = ({ document, path }: Place, text: string) =>
    JSON.stringify(changed(document, path, () => MARK)).replace(JSON.stringify(MARK), () => text);
  const problemsOf = (text: string) => {
    const result = load(text);
    return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
  };
  for (const place of places) {
    const { document, path } = place;
    const here = pathText(path);
    const key = path.at(-1);
    t.strictSame(
      problemsOf(withText(place, "*nowhere")),
      [": an alias (`*name`) needs an anchor (`&name`) of that name before it"],
      here,
    );
    t.strictSame(problemsOf(withText(place, "&a [*a]")), [": nested too deeply, or in itself"], here);
    t.strictSame(problemsOf(withText(place, "!secret x")), [": this YAML tag (`!…`) is not supported"], here);
    if (typeof key === "number") continue;
    const twice = JSON.stringify(changed(document, path, () => MARK)).replace(
      `${JSON.stringify(key)}:${JSON.stringify(MARK)}`,
      (entry) => `${entry},${entry}`,
    );
    t.strictSame(
      problemsOf(twice).filter((problem) => problem.startsWith(":")),
      [`: the key ${key} stands here and in line 1; it may stand once`],
      here,
    );
  }
  const numbers = places.filter(({ definition }) => KindGuard.IsInteger(definition));
  for (const place of numbers)
    for (const written of [".nan", ".inf", "-.inf", "0x10", "1e3", "9".repeat(17), "1_000"])
      t.strictSame(
        problemsOf(withText(place, written)).map((problem) => problem.replace(/ an integer .*, not /, " ")),
        [`${pathText(place.path)}: must be ${written === "1_000" ? JSON.stringify(written) : written}`],
        `${pathText(place.path)}: ${written}`,
      );
  t.ok(numbers.length > 30);
});

t.test("unknown keys and keys with one wrong letter are problems", async (t) => {
  const first = new Map<TSchema, Place>();
  for (const document of Object.values(wholeDocuments))
    for (const place of placesIn(document, document, schema, []))
      if (KindGuard.IsObject(place.definition) && openValue(place.definition) === undefined)
        first.set(place.definition, place);
  const problemAt = (place: Place, key: string, change: (value: Json) => Json) => {
    const result = load(JSON.stringify(changed(place.document, place.path, change)));
    const at = pathText([...place.path, key]);
    return result.ok ? [] : result.problems.filter(({ path }) => path === at).map(({ message }) => message);
  };
  let misspelt = 0;
  for (const [definition, place] of first) {
    const known = Object.keys(definition.properties);
    const here = pathText(place.path);
    for (const key of ["frobnicate", "__proto__", "constructor", "toString"])
      t.strictSame(
        problemAt(place, key, (value) => withKeys(value, (entries) => [...entries, [key, 1]])),
        [`unknown key; known here: ${known.join(", ")}`],
        `${here}: ${key}`,
      );
    for (const key of known) {
      const wrong = `${key}${key.at(-1)}`;
      const rename = (value: Json) =>
        withKeys(value, (entries) => entries.map(([name, each]) => [name === key ? wrong : name, each]));
      if (JSON.stringify(changed(place.document, place.path, rename)) === JSON.stringify(place.document))
        continue;
      const own = definition.properties[key];
      if (KindGuard.IsLiteral(own) && !("default" in own) && !KindGuard.IsOptional(own)) {
        const [message] = problemAt(place, key, rename);
        t.match(message, /^is required: /, `${here}: ${wrong}, by which the form is selected`);
        continue;
      }
      misspelt += 1;
      t.strictSame(
        problemAt(place, wrong, rename),
        [`unknown key; did you mean \`${key}\`?`],
        `${here}: ${wrong}`,
      );
    }
  }
  t.comment(`${first.size} mappings, ${misspelt} keys misspelt`);
});

/** Returns the mapping with changed entries, whose keys may be `__proto__`. */
function withKeys(value: Json, change: (entries: [string, Json][]) => [string, Json][]): Json {
  return Object.fromEntries(change(Object.entries(value ?? {})));
}

t.test("commands refuse a file with its problems, and quote none of its values", async (t) => {
  const main = programArguments("../../src/main.js", import.meta.url);
  const cases = [
    ["check-config", "api: { port: .nan }", "1: api.port: must be an integer from 1 to 65535, not .nan"],
    ["run", "tenants: { acme: { __proto__: 1 } }", "1: tenants.acme.ecosystem: is required"],
    ["serve", "embedded: &a { sql_users: *a }", "1: nested too deeply, or in itself"],
    [
      "reconcile",
      "data_dir: [[[]]]",
      "1: data_dir: must be a path, not a list: put a value that begins with `[` in quotes",
    ],
  ] as const;
  await Promise.all(
    cases.map(async ([command, text, problem]) => {
      const config = join(folder, `${command}.yaml`);
      writeFileSync(config, text);
      const child = spawn(process.execPath, [...main, command, "--config", config], {
        env: { ...process.env, NODE_OPTIONS: "" },
      });
      const output = { stdout: "", stderr: "" };
      for (const name of ["stdout", "stderr"] as const)
        child[name].on("data", (chunk) => (output[name] += chunk));
      const [code] = await once(child, "close");
      t.strictSame([code, output.stdout], [2, ""], command);
      const lines = output.stderr.trimEnd().split("\n");
      t.ok(lines[0]?.startsWith(`${config}:${problem}`), output.stderr);
      t.ok(
        lines.every((line) => line.startsWith(`${config}:1: `)),
        "each line is a problem with its place",
      );
    }),
  );
});
