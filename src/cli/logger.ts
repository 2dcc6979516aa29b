import { type LogFn, type Logger, pino } from "pino";
import { prettyFactory } from "pino-pretty";
import type { Config } from "../config/config.js";
import { shownInResult } from "../config/shown-in-result.js";
import { deepWithoutSecrets } from "../secrets/known-secrets.js";
import type { Terminal } from "./command.js";

/** Takes the log's lines: a file descriptor, or whatever writes them. */
export type LogDestination = number | { write(text: string): void };

const standardError = 2;

/** The process's log: JSON lines or readable text on standard error, so that standard output stays a command's result. */
export function createLogger(
  { format, level }: Config["logging"],
  destination: LogDestination = standardError,
  { hideObject = false, leavesOutResults = false } = {},
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
        const [about]: readonly unknown[] = args;
        const isTold = typeof about === "object" && about !== null && shownInResult in about;
        if (!(leavesOutResults && isTold)) write.apply(this, args);
      },
    },
    // Whoever logs an error or a configuration object by mistake must not print credentials.
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
 * The log of a command that somebody watches: on a terminal in words, and without the lines of each step, which the command tells in its
 * own way; `debug` shows them all. What the command prints of the run at the end is not in it either. Elsewhere it is that of the service.
 */
export function commandLogger(
  logging: Config["logging"],
  terminal: Terminal,
  destination: LogDestination = standardError,
): Logger {
  if (!terminal.isTTY) return createLogger(logging);
  const level = logging.level === "info" ? "warn" : logging.level;
  return createLogger({ format: "pretty", level }, destination, { hideObject: true, leavesOutResults: true });
}

/** As many bytes of lines as wait for a disk with room. More lines are dropped. */
const WAITING_BYTES = 1024 * 1024;

/** A log that cannot be written, on a full disk or to a closed pipe, must not end the service. */
function logFile(fd: number) {
  return pino.destination({ fd, sync: true, maxLength: WAITING_BYTES }).on("error", () => undefined);
}

/** A store may echo in its error what it was sent. */
function lineWithoutSecrets(line: string): string {
  const { level, time, service, ...said } = JSON.parse(line);
  return `${JSON.stringify({ level, time, service, ...Object(deepWithoutSecrets(said)) })}\n`;
}

/** An error without what libraries hang on it, such as a whole database connection. */
function describeError(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name: type, message, stack } = error;
  const code = "code" in error ? { code: error.code } : {};
  const cause: Record<string, unknown> = error.cause === undefined ? {} : { cause: String(error.cause) };
  return { type, message, ...code, ...cause, stack };
}
