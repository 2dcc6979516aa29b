import { type LogFn, type Logger, pino } from "pino";
import { prettyFactory } from "pino-pretty";
import { deepWithoutSecrets } from "../common/known-secrets.js";
import { shownInResult } from "../common/shown-in-result.js";
import type { Config } from "../config/config.js";
import type { Terminal } from "./command.js";

/** Destination of log lines: a file descriptor or a writer. */
export type LogDestination = number | { write(text: string): void };

const standardError = 2;

/**
 * Creates the process's log: JSON lines or readable text on standard error. Standard output is for the results of
 * commands.
 */
export function createLogger(
  { format, level }: Config["logging"],
  destination: LogDestination = standardError,
  { hideObject = false, hidesResults = false } = {},
): Logger {
  const options = {
    level,
    base: { service: "chargehouse" },
    formatters: { level: (label: string) => ({ level: label === "fatal" ? "critical" : label }) },
    serializers: { err: describeError },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    hooks: {
      streamWrite: lineWithoutSecrets,
      logMethod(this: Logger, args: Parameters<LogFn>, write: LogFn) {
        const [firstArgument]: readonly unknown[] = args;
        const isInResult =
          typeof firstArgument === "object" && firstArgument !== null && shownInResult in firstArgument;
        if (!(hidesResults && isInResult)) write.apply(this, args);
      },
    },
    // Masks credentials in errors and configuration objects that are logged by mistake.
    redact: {
      paths: ["password", "*.password", "secret", "*.secret", "token", "*.token"],
      censor: "********",
    },
  };
  const stream = typeof destination === "number" ? logFile(destination) : destination;
  if (format === "json") return pino(options, stream);
  const inWords = prettyFactory({
    colorize: process.stderr.isTTY,
    hideObject,
    ignore: "service,pid,hostname",
    customPrettifiers: {
      level: (level, _key, _line, { labelColorized, colors }) =>
        level === "critical" ? colors.bgRed("CRITICAL") : labelColorized,
    },
  });
  return pino(options, { write: (line: string) => void stream.write(inWords(line)) });
}

/**
 * The log of an interactive command. On a terminal it is plain text, without the log lines of each step, which the
 * command shows in its own way (`debug` shows them all), and without lines that the command's result repeats. Elsewhere
 * it is the log of the service.
 */
export function commandLogger(
  logging: Config["logging"],
  terminal: Terminal,
  destination: LogDestination = standardError,
): Logger {
  if (!terminal.isTTY) return createLogger(logging);
  const level = logging.level === "info" ? "warn" : logging.level;
  return createLogger({ format: "pretty", level }, destination, { hideObject: true, hidesResults: true });
}

/** The most bytes of log lines that wait while the disk is full. Further lines are dropped. */
const WAITING_BYTES = 1024 * 1024;

/** An unwritable log, such as on a full disk or a closed pipe, does not end the service. */
function logFile(fd: number) {
  return pino.destination({ fd, sync: true, maxLength: WAITING_BYTES }).on("error", () => undefined);
}

/** Errors of a store may echo statements that contain secrets. */
function lineWithoutSecrets(line: string): string {
  const { level, time, service, ...fields } = JSON.parse(line);
  return `${JSON.stringify({ level, time, service, ...Object(deepWithoutSecrets(fields)) })}\n`;
}

/** Leaves out properties that libraries attach to errors, such as a whole database connection. */
function describeError(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name: type, message, stack } = error;
  const code = "code" in error ? { code: error.code } : {};
  const cause: Record<string, unknown> = error.cause === undefined ? {} : { cause: String(error.cause) };
  return { type, message, ...code, ...cause, stack };
}
