/**
 * Parses YAML 1.2 into `Written`, with anchors, aliases and merge keys resolved, and with the line of every node.
 *
 * Messages of the YAML library quote the source, which may contain a secret, so its error codes are translated into our
 * own sentences. For any text, the result is a value and problems, never an exception.
 */
import { type Document, LineCounter, type ParsedNode, parseDocument, type YAMLError } from "yaml";
import type { ConfigProblem } from "./problem.js";
import type { Written } from "./written.js";
import { Unfolding } from "./yaml-nodes.js";

/** A configuration of 1,000 tenants has some 500 kB. A longer text is a wrong file. */
const MOST_CHARACTERS = 4_000_000;

const SENTENCES: Readonly<Record<string, string>> = {
  BAD_ALIAS: "an alias (`*name`) or an anchor (`&name`) needs a name",
  BAD_DQ_ESCAPE:
    "a backslash in double quotes starts an escape that YAML does not know; use single quotes or `\\\\`",
  BAD_INDENT: "the indentation does not fit the lines before, or a bracket or a quote is not closed",
  BAD_SCALAR_START: "a bare value cannot start with this character; put the value in quotes",
  BLOCK_AS_IMPLICIT_KEY:
    "a key and its value are nested in one line; put the value in quotes or on its own line",
  MISSING_CHAR: "something is not closed or not separated: a quote, a bracket, a comma or a colon",
  MULTILINE_IMPLICIT_KEY: "a key must be on one line; is a colon or a quote missing?",
  MULTIPLE_DOCS: "the file contains more than one YAML document (`---`); one is allowed",
  RESOURCE_EXHAUSTION: "nested too deeply",
  TAB_AS_INDENT: "tabs cannot indent; use spaces",
  TAG_RESOLVE_FAILED: "this YAML tag (`!…`) is not supported",
  UNEXPECTED_TOKEN:
    "is not valid YAML here: put a value in quotes if it contains `[`, `]`, `{`, `}`, a comma or quotes, as in `{ " +
    "query: 'sum(rate(x[1h]))' }`",
};

function sentence(error: YAMLError): string {
  return SENTENCES[error.code] ?? `is not valid YAML here (${error.code.toLowerCase().replaceAll("_", " ")})`;
}

/**
 * Returns the first error of each line. Errors behind an unexpected token are dropped, because the parser misreads
 * everything that follows.
 */
function causes(errors: readonly YAMLError[], lineOf: (offset: number) => number): YAMLError[] {
  const firsts = errors.filter(
    ({ pos }, at) => errors.findIndex((each) => lineOf(each.pos[0]) === lineOf(pos[0])) === at,
  );
  const end = firsts.findIndex(({ code }) => code === "UNEXPECTED_TOKEN");
  return end === -1 ? firsts : firsts.slice(0, end + 1);
}

export interface ParsedYaml {
  /**
   * The root mapping; undefined if the text cannot be read at all. A duplicate key is a problem, but the mapping is
   * still complete.
   */
  root?: Written;
  problems: ConfigProblem[];
}

export function parseYaml(text: string, file: string): ParsedYaml {
  const at = (line: number, message: string): ConfigProblem => ({ file, line, path: "", message });
  if (text.length > MOST_CHARACTERS) {
    return { problems: [at(1, `the file is larger than ${MOST_CHARACTERS} characters`)] };
  }
  const lines = new LineCounter();
  const lineOf = (offset: number) => Math.max(1, lines.linePos(offset).line);
  let document: Document.Parsed<ParsedNode>;
  try {
    document = parseDocument(text, {
      lineCounter: lines,
      merge: true,
      prettyErrors: false,
      resolveKnownTags: false,
      // Checked in `unfold` with a set: the library's check is quadratic in the number of keys.
      uniqueKeys: false,
    });
  } catch {
    return { problems: [at(1, "the file cannot be read as YAML; is it nested too deeply?")] };
  }
  const errors = [...document.errors, ...document.warnings];
  if (errors.length > 0)
    return { problems: causes(errors, lineOf).map((error) => at(lineOf(error.pos[0]), sentence(error))) };
  const unfolding = new Unfolding(document, file, lineOf);
  const root = unfolding.unfold(document.contents, 1);
  const { problems } = unfolding;
  if (!unfolding.isWhole) return { problems };
  if (root.kind === "nothing") return { root: { kind: "mapping", line: 1, entries: new Map() }, problems };
  if (root.kind !== "mapping")
    return { problems: [at(root.line, "the file must contain a mapping of keys to values")] };
  return { root, problems };
}
