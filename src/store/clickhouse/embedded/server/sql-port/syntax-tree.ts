/**
 * The engine's own syntax tree of a statement, as `EXPLAIN AST` prints it: one node a line, indented by its depth.
 *
 * ```
 * SelectQuery (children 2)
 *  ExpressionList (children 1)
 *   Function count (alias n) (children 1)
 *    ExpressionList
 *  TablesInSelectQuery (children 1)
 * ```
 */
export interface SyntaxNode {
  /** `Function`, `TableIdentifier`, … */
  readonly kind: string;
  /** What stands behind the kind: a name, a literal; without alias and number of children. */
  readonly text: string;
  readonly alias: string | undefined;
  readonly parent: SyntaxNode | undefined;
  /** Which child of its parent it is. */
  readonly position: number;
  readonly children: readonly SyntaxNode[];
}

const CHILDREN = / \(children \d+\)$/;
const ALIAS = / \(alias ([^)]*)\)$/;

/** All nodes, parents before their children. Names with line ends must have been refused before: they would print as nodes. */
export function readSyntaxTree(printed: string): readonly SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  /** The latest node of each depth. */
  const path: (SyntaxNode & { children: SyntaxNode[] })[] = [];
  for (const line of printed.split("\n")) {
    if (line === "") continue;
    const depth = line.search(/[^ ]/);
    const parent = path[depth - 1];
    const node = {
      ...nodeOf(line.slice(depth)),
      parent,
      position: parent?.children.length ?? 0,
      children: [],
    };
    parent?.children.push(node);
    path.splice(depth, path.length, node);
    nodes.push(node);
  }
  return nodes;
}

function nodeOf(line: string): Pick<SyntaxNode, "kind" | "text" | "alias"> {
  const named = line.replace(CHILDREN, "");
  const alias = ALIAS.exec(named);
  const own = alias === null ? named : named.slice(0, alias.index);
  const space = own.indexOf(" ");
  if (space < 0) return { kind: own, text: "", alias: alias?.[1] };
  return { kind: own.slice(0, space), text: own.slice(space + 1), alias: alias?.[1] };
}
