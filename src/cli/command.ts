import type { Writable } from "node:stream";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { errorMessage } from "../store/error-message.js";
import { isDay } from "../time/days.js";

/** A command of the `chargehouse` program, as `--help` lists it. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

/** What a command does, and its words for its own `--help`. */
export interface Command {
  readonly usage: string;
  readonly options: Options;
  /** Returns the exit code: 0 done, 1 failed, 2 wrong usage or configuration. */
  run(args: readonly string[], io: CommandIo): Promise<number>;
}

/** Options of a command by their names, as `parseArgs` takes them, each with its words for `--help`. */
export type Options = Readonly<
  Record<
    string,
    (
      | { readonly type: "boolean"; readonly default?: false }
      | {
          readonly type: "string";
          /** What stands for the value in `--help`. */
          readonly value: string;
          readonly multiple?: boolean;
          readonly default?: string | string[];
        }
    ) & { readonly help: string }
  >
>;

/** Where a command writes: a terminal, or something that only looks like its stream. */
export type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** What a command may touch of its process. */
export interface CommandIo {
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** Aborts at SIGTERM and SIGINT. */
  readonly signal: AbortSignal;
}

/** The caller's words are off: said with the usage, exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Something that ends the command with a sentence and an exit code, not with a stack trace. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  constructor(
    message: string,
    readonly exitCode: 1 | 2,
  ) {
    super(message);
  }
}

/** Parses a command's options strictly; anything unknown is a UsageError. */
export function parseOptions<Options extends NonNullable<ParseArgsConfig["options"]>>(
  args: readonly string[],
  options: Options,
) {
  return parsed(args, options, false).values;
}

/** The same for a command that takes files, as `files`. */
export function parseFiles<Options extends NonNullable<ParseArgsConfig["options"]>>(
  args: readonly string[],
  options: Options,
) {
  const { values, positionals } = parsed(args, options, true);
  return { values, files: positionals };
}

function parsed<Options extends NonNullable<ParseArgsConfig["options"]>>(
  args: readonly string[],
  options: Options,
  allowPositionals: boolean,
) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals });
  } catch (error) {
    throw new UsageError(errorMessage(error));
  }
}

/** A day given on the command line. */
export function dayOption(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (!isDay(value)) throw new UsageError(`--${name} must be a day as YYYY-MM-DD, not "${value}"`);
  return value;
}
