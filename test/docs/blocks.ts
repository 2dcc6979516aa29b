/**
 * Reads the code blocks of a documentation page, including those in lists. The fence tells what a block is:
 *
 * - `sh`: commands that a reader types, and that the test runs. `sh unrun=WHY`: commands that it cannot run, such as
 *   `unrun=docker`
 * - `yaml FILE`: a file that the reader writes. `yaml FILE add`: what the reader adds to it
 * - all others, including `console` and plain `yaml`, are illustrations
 */

export type Block =
  | { readonly kind: "run"; readonly commands: readonly string[] }
  | { readonly kind: "unrun"; readonly why: string }
  | { readonly kind: "file"; readonly name: string; readonly text: string; readonly add: boolean }
  | { readonly kind: "illustration" };

export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^( *)```(\S+)?(?: (.*))?\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = "", language, words = "", indented = ""]) => {
      const text = indented.replaceAll(new RegExp(`^${indent}`, "gm"), "");
      const [first = "", second] = words.split(" ");
      if (language === "yaml" && first !== "")
        return { kind: "file", name: first, text, add: second === "add" };
      if (language !== "sh") return { kind: "illustration" };
      if (first === "") return { kind: "run", commands: commandsOf(text) };
      const [, why] = /^unrun=(\w+)$/.exec(words) ?? [];
      if (why === undefined) throw new Error(`a block of commands says "${words}"`);
      return { kind: "unrun", why };
    },
  );
}

/** Joins lines that belong together: after a backslash, and within quotes. */
function commandsOf(text: string): string[] {
  const commands: string[] = [];
  let open = "";
  for (const line of text.split("\n")) {
    open += open === "" ? line : `\n${line}`;
    if (open.endsWith("\\") || (open.replaceAll(/[^']/g, "").length % 2 === 1 && !/^\s*#/.test(open)))
      continue;
    if (open.trim() !== "" && !/^\s*#/.test(open)) commands.push(open);
    open = "";
  }
  if (open.trim() !== "") throw new Error(`a command does not end: ${open}`);
  return commands;
}
