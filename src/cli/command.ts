import type { Writable } from "node:stream";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { isDay } from "../common/days.js";
import { errorMessage } from "../common/error-message.js";

/** A command of the `chargehouse` program, as `--help` lists it. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

/** A command with its usage and options. */
export interface Command {
  readonly usage: string;
  readonly options: Options;
  /** Returns the exit code: 0 done, 1 failed, 2 wrong usage or configuration. */
  run(args: readonly string[], io: CommandIo): Promise<number>;
}

/** Options by name, as `parseArgs` takes them, each with its help text. */
export type Options = Readonly<
  Record<
    string,
    (
      | { readonly type: "boolean"; readonly default?: false }
      | {
          readonly type: "string";
          /** Placeholder of the value in `--help`. */
          readonly value: string;
          readonly multiple?: boolean;
          readonly default?: string | string[];
        }
    ) & { readonly help: string }
  >
>;

/** An output stream, which may be a terminal. */
export type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The parts of the process that a command may use. */
export interface CommandIo {
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  readonly env: NodeJS.ProcessEnv;
  /** Aborts at SIGTERM and SIGINT. */
  readonly signal: AbortSignal;
}

/** Wrong arguments: printed with the usage; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Ends the command with a message and an exit code, without a stack trace. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  constructor(
    message: string,
    readonly exitCode: 1 | 2,
  ) {
    super(message);
  }
}

/** Parses options strictly. Throws `UsageError` for anything unknown. */
export function parseOptions<Options extends NonNullable<ParseArgsConfig["options"]>>(
  args: readonly string[],
  options: Options,
) {
  return parsed(args, options, false).values;
}

/** Like `parseOptions`, for a command with positional arguments, which are `files`. */
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

/** Validates a day of the command line. */
export function dayOption(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (!isDay(value)) throw new UsageError(`--${name} must be a day as YYYY-MM-DD, not "${value}"`);
  return value;
}
