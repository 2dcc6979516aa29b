/**
 * Converts nodes of the YAML library to `Written`: follows aliases, applies merge keys, finds duplicate keys.
 *
 * Depth and number of values are bounded, because nested aliases can expand exponentially in a few lines, and an anchor
 * can contain itself.
 */
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type ParsedNode,
  type Scalar,
  visit,
} from "yaml";
import { type ConfigProblem, printableKey } from "./problem.js";
import type { Written, WrittenEntry } from "./written.js";

const DEEPEST = 40;
const MOST_VALUES = 250_000;

type Node = unknown;

function looks(value: unknown): "text" | "number" | "boolean" {
  if (typeof value === "number" || typeof value === "bigint") return "number";
  return typeof value === "boolean" ? "boolean" : "text";
}

function isMergeKey(key: Scalar): boolean {
  return typeof key.value === "symbol" || (key.type === "PLAIN" && key.source === "<<");
}

/**
 * Maps each alias to its target, the last anchor of its name before it. The library would search the whole file for
 * each alias.
 */
function targetsOf(document: Document.Parsed<ParsedNode>): ReadonlyMap<unknown, unknown> {
  const anchored = new Map<string, unknown>();
  const targets = new Map<unknown, unknown>();
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) targets.set(node, anchored.get(node.source));
      else if (node.anchor !== undefined) anchored.set(node.anchor, node);
    },
  });
  return targets;
}

export class Unfolding {
  readonly problems: ConfigProblem[] = [];
  /** False after something could not be expanded. A duplicate key is a problem, but does not make this false. */
  isWhole = true;
  readonly #targets: ReadonlyMap<unknown, unknown>;
  #values = 0;
  #depth = 0;
  #stopped = false;

  constructor(
    document: Document.Parsed<ParsedNode>,
    readonly file: string,
    readonly lineOf: (offset: number) => number,
  ) {
    this.#targets = targetsOf(document);
  }

  /** `line` is that of the parent, for nodes without a position of their own. */
  unfold(node: Node, line: number): Written {
    const here = this.#lineOfNode(node, line);
    this.#values++;
    if (this.#stopped || this.#bounded(here)) return { kind: "nothing", line: here };
    this.#depth++;
    try {
      if (isAlias(node)) return this.#anchored(node, here);
      if (isMap(node)) {
        const entries = new Map<string, WrittenEntry>();
        const lines = new Map<string, number>();
        for (const pair of node.items) this.#entry(pair, here, entries, lines);
        this.#merge(node.items, here, entries);
        return { kind: "mapping", line: here, entries };
      }
      if (isSeq(node))
        return { kind: "list", line: here, items: node.items.map((item) => this.unfold(item, here)) };
      if (!isScalar(node) || node.value === null) return { kind: "nothing", line: here };
      return {
        kind: "scalar",
        line: here,
        text: node.source ?? String(node.value),
        looks: looks(node.value),
      };
    } finally {
      this.#depth--;
    }
  }

  #anchored(alias: Alias, line: number): Written {
    const anchored = this.#targets.get(alias);
    if (anchored === undefined)
      this.#problem(line, "an alias (`*name`) needs an anchor (`&name`) of that name before it");
    return this.unfold(anchored, line);
  }

  #lineOfNode(node: Node, line: number): number {
    const placed = isAlias(node) || isMap(node) || isSeq(node) || isScalar(node);
    return placed && node.range ? this.lineOf(node.range[0]) : line;
  }

  #problem(line: number, message: string): void {
    this.isWhole = false;
    this.#report(line, message);
  }

  #report(line: number, message: string): void {
    this.problems.push({ file: this.file, line, path: "", message });
  }

  #bounded(line: number): boolean {
    const tooMany = this.#values > MOST_VALUES;
    if (!tooMany && this.#depth < DEEPEST) return false;
    this.#stopped = true;
    this.#problem(
      line,
      tooMany
        ? `with its aliases the file holds more than ${MOST_VALUES} values`
        : "nested too deeply, or in itself",
    );
    return true;
  }

  #entry(pair: Pair, line: number, entries: Map<string, WrittenEntry>, lines: Map<string, number>): void {
    const here = this.#lineOfNode(pair.key, line);
    const key = isAlias(pair.key) ? this.#targets.get(pair.key) : pair.key;
    if (!isScalar(key)) this.#problem(here, "a key must be a scalar, not a mapping or a list");
    if (!isScalar(key) || isMergeKey(key)) return;
    const name = key.source ?? String(key.value);
    const first = lines.get(name);
    if (first !== undefined) {
      this.#report(
        here,
        `the key ${printableKey(name) ?? ""} stands here and in line ${first}; it may stand once`,
      );
    }
    lines.set(name, here);
    entries.set(name, { line: here, value: this.unfold(pair.value, here) });
  }

  /**
   * Entries from `<<` never replace the mapping's own. Of several merged mappings, the earlier one takes precedence.
   */
  #merge(pairs: readonly Pair[], line: number, entries: Map<string, WrittenEntry>): void {
    for (const { key, value } of pairs) {
      if (!isScalar(key) || !isMergeKey(key)) continue;
      const here = this.#lineOfNode(key, line);
      const merged = this.unfold(value, here);
      for (const source of merged.kind === "list" ? merged.items : [merged]) {
        if (source.kind !== "mapping" && !this.#stopped)
          this.#problem(here, "`<<` takes a mapping or a list of mappings");
        if (source.kind !== "mapping") continue;
        for (const [name, entry] of source.entries) if (!entries.has(name)) entries.set(name, entry);
      }
    }
  }
}
