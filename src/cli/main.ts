import { setMaxListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { errorMessage } from "../common/error-message.js";
import { withoutSecrets } from "../common/known-secrets.js";
import { packageVersion } from "../common/project.js";
import { CommandError, type CommandIo, UsageError } from "./command.js";
import { commands } from "./commands.js";
import { commandHelp, programHelp, usageHint } from "./help.js";

/** Runs the command line and returns its exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const exitCode = watchOutput();
  return await exitCode(await runCommand(argv));
}

async function runCommand(argv: readonly string[]): Promise<number> {
  const [name = "--help", ...args] = argv;
  const abort = new AbortController();
  // Each run of a tenant adds a listener, and Node.js warns of more than ten.
  setMaxListeners(0, abort.signal);
  const io: CommandIo = {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    signal: abort.signal,
  };
  if (name === "--version" || name === "-v") return print(io, `${packageVersion()}\n`);
  if (name === "--help" || name === "-h" || name === "help") return print(io, programHelp(commands));
  const entry = commands.find((each) => each.name === name);
  if (entry === undefined) return refuse(io, `unknown command "${name}"`, programHelp(commands));
  const command = await entry.load();
  if (args.includes("--help") || args.includes("-h")) return print(io, commandHelp(entry, command));
  const forget = abortOnSignals(abort);
  try {
    return await command.run(args, io);
  } catch (error) {
    if (error instanceof UsageError) return refuse(io, error.message, usageHint(entry, command));
    if (error instanceof CommandError) {
      io.stderr.write(`${withoutSecrets(error.message)}\n`);
      return error.exitCode;
    }
    // Loaded on demand, because it imports the errors of all stores.
    const { adviceOn, errorText } = await import("../stores/error-text.js");
    io.stderr.write(`${adviceOn(error) === "" ? withoutSecrets(errorMessage(error)) : errorText(error)}\n`);
    return 1;
  } finally {
    forget();
  }
}

/**
 * Handles errors of the standard streams, which would otherwise end the process. The returned function changes the exit
 * code to 1 if the command's output could not be written. A reader that stops early, such as `head`, is no failure.
 */
function watchOutput(): (code: number) => Promise<number> {
  let failure: NodeJS.ErrnoException | undefined;
  process.stdout.on("error", (error) => {
    failure ??= error;
  });
  process.stderr.on("error", () => undefined);
  return async (code) => {
    await setImmediate();
    if (failure === undefined || failure.code === "EPIPE") return code;
    process.stderr.write(`standard output cannot be written: ${failure.message}\n`);
    return code === 0 ? 1 : code;
  };
}

/** The first signal tells the command to finish. A second one ends the process at once. */
function abortOnSignals(abort: AbortController): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    if (abort.signal.aborted) process.exit(128 + (signal === "SIGINT" ? 2 : 15));
    abort.abort(new Error(`Interrupted by shutdown (${signal})`));
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return () => {
    process.off("SIGTERM", onSignal);
    process.off("SIGINT", onSignal);
  };
}

function print(io: CommandIo, text: string): number {
  io.stdout.write(text);
  return 0;
}

function refuse(io: CommandIo, message: string, help: string): number {
  io.stderr.write(`${message}\n\n${help}`);
  return 2;
}
