/** Texts of `--help` and of wrong usage. */
import type { Command, CommandEntry, Options } from "./command.js";
import { wrapWords } from "./wrap.js";

export function programHelp(commands: readonly CommandEntry[]): string {
  const lines = inTwoColumns(commands.map(({ name, summary }) => [name, summary]));
  return `chargehouse COMMAND [OPTIONS]\n\n${lines}\nchargehouse COMMAND --help shows a command's options.\n`;
}

export function commandHelp({ summary }: CommandEntry, { usage, options }: Command): string {
  const rows = Object.entries(options).map(([name, option]) => [flag(name, option), words(option)] as const);
  const about = wrapWords(summary, usualWidth).join("\n");
  return `${usageText(usage)}\n\n${about}\n\n${inTwoColumns([...rows, ["--help", "show this help"]])}`;
}

/** Short, so that the error message above it stays visible. */
export function usageHint({ name }: CommandEntry, { usage }: Command): string {
  return `${usageText(usage)}\nchargehouse ${name} --help shows what the options mean.\n`;
}

/** Matches units that are never broken: an option with its value, or a bracket with nested brackets. */
const unbroken = /\[(?:[^[\]]|\[[^[\]]*\])*\]\S*|--\S+ [^\s[]+/g;
const noBreak = "\u00a0";

/** Breaks lines between options and indents all but the first. */
function usageText(usage: string): string {
  const text = usage.replaceAll(unbroken, (unit) => unit.replaceAll(" ", noBreak));
  const lines = wrapWords(`chargehouse ${text}`, usualWidth - 2);
  return lines.join("\n  ").replaceAll(noBreak, " ");
}

function flag(name: string, option: Options[string]): string {
  return option.type === "boolean" ? `--${name}` : `--${name} ${option.value}`;
}

function words(option: Options[string]): string {
  const usual = option.type === "string" && typeof option.default === "string" ? ` (${option.default})` : "";
  return `${option.help}${usual}`;
}

const usualWidth = 80;
const widestLeft = 22;

/** Wraps long texts in the right column. A text that is too long for the left column gets a line of its own. */
function inTwoColumns(rows: readonly (readonly [string, string])[]): string {
  const left = Math.min(widestLeft, Math.max(...rows.map(([name]) => name.length)));
  const indent = `\n${" ".repeat(left + 4)}`;
  const width = usualWidth - left - 4;
  return rows
    .map(([name, text]) => {
      const gap = name.length > left ? indent : "  ".padEnd(left - name.length + 2);
      return `  ${name}${gap}${wrapWords(text, width).join(indent)}\n`;
    })
    .join("");
}
