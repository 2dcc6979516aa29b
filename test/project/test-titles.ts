/**
 * Returns the titles of the tests in a source file, including subtests. A title that is built from rows of a table
 * (`for (const [name] of cases) t.test(name, …)`) gives one title per row, and the template as written, `${like.this}`.
 * So does a part that only the running test knows.
 */
import ts from "typescript";

export function testTitles(source: string): Set<string> {
  const file = ts.createSourceFile("test.ts", source, ts.ScriptTarget.Latest, true);
  const titles = new Set<string>();
  const visit = (node: ts.Node): void => {
    const title = titleOf(node);
    for (const each of title === undefined ? [] : textsOf(title)) titles.add(each);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return titles;
}

/** The first argument of `t.test(…)`. */
function titleOf(node: ts.Node): ts.Expression | undefined {
  if (!ts.isCallExpression(node) || node.arguments.length < 2) return undefined;
  const callee = node.expression;
  return ts.isPropertyAccessExpression(callee) && callee.name.text === "test" ? node.arguments[0] : undefined;
}

/** Returns every possible text of an expression. */
function textsOf(expression: ts.Expression): string[] {
  if (ts.isStringLiteralLike(expression)) return [expression.text];
  if (ts.isIdentifier(expression)) return [asWritten(expression), ...rowsOf(expression)];
  if (!ts.isTemplateExpression(expression)) return [asWritten(expression)];
  return expression.templateSpans.reduce(
    (starts, span) =>
      starts.flatMap((start) => textsOf(span.expression).map((part) => start + part + span.literal.text)),
    [expression.head.text],
  );
}

function asWritten(expression: ts.Expression): string {
  return `\${${expression.getText()}}`;
}

/** Returns the texts of a loop's variable: one for each literal element of the loop. */
function rowsOf(variable: ts.Identifier): string[] {
  for (let node: ts.Node = variable; node.parent !== undefined; node = node.parent) {
    if (!ts.isForOfStatement(node) || !ts.isVariableDeclarationList(node.initializer)) continue;
    const binding = node.initializer.declarations[0]?.name;
    const take = binding === undefined ? undefined : taking(binding, variable.text);
    if (take === undefined) continue;
    const rows = elementsOf(node.expression)?.map((element) => take(element)) ?? [];
    return rows.flatMap((row) => (row !== undefined && ts.isStringLiteralLike(row) ? [row.text] : []));
  }
  return [];
}

type Take = (element: ts.Expression) => ts.Expression | undefined;

/** Returns how a binding pattern extracts a variable from an element: itself, by position, or by name. */
function taking(binding: ts.BindingName, variable: string): Take | undefined {
  if (ts.isIdentifier(binding)) return binding.text === variable ? (element) => element : undefined;
  const index = binding.elements.findIndex(
    (each) => ts.isBindingElement(each) && each.name.getText() === variable,
  );
  if (index === -1) return undefined;
  if (ts.isArrayBindingPattern(binding))
    return (element) => (ts.isArrayLiteralExpression(element) ? element.elements[index] : undefined);
  return (element) => {
    if (!ts.isObjectLiteralExpression(element)) return undefined;
    const property = element.properties.find((each) => each.name?.getText() === variable);
    return property !== undefined && ts.isPropertyAssignment(property) ? property.initializer : undefined;
  };
}

/** Returns the elements of a literal list, here or in a constant of the file. */
function elementsOf(expression: ts.Expression): readonly ts.Expression[] | undefined {
  if (
    ts.isAsExpression(expression) ||
    ts.isParenthesizedExpression(expression) ||
    ts.isSatisfiesExpression(expression)
  )
    return elementsOf(expression.expression);
  if (ts.isArrayLiteralExpression(expression)) return expression.elements;
  if (!ts.isIdentifier(expression)) return undefined;
  const constant = constantOf(expression);
  return constant === undefined ? undefined : elementsOf(constant);
}

function constantOf(name: ts.Identifier): ts.Expression | undefined {
  let found: ts.Expression | undefined;
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.name.getText() === name.text) found ??= node.initializer;
    ts.forEachChild(node, visit);
  };
  visit(name.getSourceFile());
  return found;
}
