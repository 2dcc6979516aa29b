import { type Logger, pino } from "pino";
import pretty from "pino-pretty";
import type { Config } from "../config/config.js";

/** The process's log: JSON lines or readable text on standard error, so that standard output stays a command's result. */
export function createLogger({ format, level }: Config["logging"], fd = 2): Logger {
  const options = {
    level,
    base: { service: "chargehouse" },
    formatters: { level: (label: string) => ({ level: label === "fatal" ? "critical" : label }) },
    serializers: { err: describeError },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    // Whoever logs an error or a configuration object by mistake must not print credentials.
    redact: {
      paths: ["password", "*.password", "secret", "*.secret", "token", "*.token"],
      censor: "********",
    },
  };
  if (format === "json") return pino(options, pino.destination({ fd, sync: true }));
  const stream = pretty({
    destination: fd,
    sync: true,
    colorize: process.stderr.isTTY,
    ignore: "service,pid,hostname",
    customPrettifiers: {
      level: (level, _key, _line, { labelColorized, colors }) =>
        level === "critical" ? colors.bgRed("CRITICAL") : labelColorized,
    },
  });
  return pino(options, stream);
}

/** An error without what libraries hang on it, such as a whole database connection. */
function describeError(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name: type, message, stack } = error;
  const code = "code" in error ? { code: error.code } : {};
  const cause: Record<string, unknown> = error.cause === undefined ? {} : { cause: String(error.cause) };
  return { type, message, ...code, ...cause, stack };
}
