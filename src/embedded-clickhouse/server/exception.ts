/** Errors as a ClickHouse server sends them: code, name, the text in a body, and the HTTP status for each code. */
import { errorMessage } from "../../common/error-message.js";

/** Codes that this server raises itself. All others come from the engine. */
const OWN = {
  BAD_ARGUMENTS: 36,
  NOT_IMPLEMENTED: 48,
  UNKNOWN_TABLE: 60,
  SYNTAX_ERROR: 62,
  UNKNOWN_FORMAT: 73,
  UNKNOWN_DATABASE: 81,
  UNKNOWN_SETTING: 115,
  TIMEOUT_EXCEEDED: 159,
  READONLY: 164,
  REQUIRED_PASSWORD: 194,
  QUOTA_EXCEEDED: 201,
  TOO_MANY_SIMULTANEOUS_QUERIES: 202,
  QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING: 216,
  QUERY_IS_TOO_LARGE: 229,
  NOT_ENOUGH_SPACE: 243,
  CANNOT_DECOMPRESS: 271,
  INTO_OUTFILE_NOT_ALLOWED: 358,
  INCORRECT_DATA: 117,
  SESSION_NOT_FOUND: 372,
  SESSION_IS_LOCKED: 373,
  INVALID_SESSION_TIMEOUT: 374,
  QUERY_WAS_CANCELLED: 394,
  TOO_MANY_ROWS_OR_BYTES: 396,
  ACCESS_DENIED: 497,
  UNKNOWN_ROLE: 511,
  AUTHENTICATION_FAILED: 516,
  UNKNOWN_EXCEPTION: 1002,
} as const;

export type OwnError = keyof typeof OWN;

export class ServerException extends Error {
  constructor(
    readonly code: number,
    readonly type: string,
    message: string,
  ) {
    super(message);
    this.name = "ServerException";
  }

  /** Formats the error like a server: `Code: 60. DB::Exception: … (UNKNOWN_TABLE) (version 26.7.2.1)`. */
  body(version: string): string {
    const sentence = /[.!?]$/.test(this.message) ? this.message : `${this.message}.`;
    return `Code: ${this.code}. DB::Exception: ${sentence} (${this.type}) (version ${version})\n`;
  }

  /** Returns the same error with another text. */
  reworded(message: string): ServerException {
    return new ServerException(this.code, this.type, message);
  }
}

export function exception(type: OwnError, message: string): ServerException {
  return new ServerException(OWN[type], type, message);
}

/**
 * Parses `Code: 60. DB::Exception: text. (NAME)`. The engine wraps errors from inside an insert once more (`Code: 27.
 * DB::Exception: Code: 27. DB::Exception: … (NAME) (version …). (NAME)`); the inner text is then used.
 */
export function exceptionFromEngine(error: unknown): ServerException {
  const text = errorMessage(error);
  const outer = readException(text.trimEnd());
  if (outer === undefined) return exception("UNKNOWN_EXCEPTION", text);
  const wrapped = outer.message.endsWith(".") ? outer.message.slice(0, -1) : outer.message;
  const inner = readException(wrapped.endsWith(")") ? withoutVersion(wrapped) : "");
  return new ServerException(outer.code, outer.type, inner?.message ?? outer.message);
}

/**
 * Splits from both ends. The text in between quotes statements and may contain anything, so a pattern that is tried at
 * each of its blanks would take quadratic time.
 */
function readException(text: string): { code: number; type: string; message: string } | undefined {
  const head = /^Code: (\d{1,9})\. DB::(?:\w{1,100}::){0,10}\w{0,100}Exception: /.exec(text);
  const open = text.lastIndexOf("(");
  const type = /^\(([A-Z][A-Z0-9_]{1,200})\)$/.exec(text.slice(open, open + 300))?.[1];
  if (head?.[1] === undefined || open < head[0].length || type === undefined || text.length - open > 300)
    return undefined;
  return { code: Number(head[1]), type, message: text.slice(head[0].length, open).trimEnd() };
}

/** Removes ` (version 26.7.2.1)` at the end. */
function withoutVersion(text: string): string {
  const open = text.lastIndexOf(" (version ");
  return open < 0 ? text : text.slice(0, open);
}

/** Errors of a full disk when a client's data is written to it. */
const diskFullCodes = new Set<unknown>(["ENOSPC", "EDQUOT"]);

/** Returns anything thrown as a server's error. */
export function asException(error: unknown): ServerException {
  if (error instanceof ServerException) return error;
  if (error instanceof Error && "code" in error && diskFullCodes.has(error.code))
    return exception("NOT_ENOUGH_SPACE", error.message);
  return exceptionFromEngine(error);
}

/** The status table of ClickHouse's `exceptionCodeToHTTPStatus`. */
const STATUS: ReadonlyMap<number, number> = new Map(
  Object.entries({
    400: [
      6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321, 376, 427, 441, 675,
      676,
    ],
    401: [194],
    403: [192, 193, 497, 512, 516],
    404: [46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511],
    408: [159],
    411: [381],
    413: [229],
    415: [779],
    429: [201],
    501: [48],
    503: [76, 209, 439],
  }).flatMap(([status, codes]) => codes.map((code) => [code, Number(status)] as const)),
);

export function statusOf(code: number): number {
  return STATUS.get(code) ?? 500;
}
