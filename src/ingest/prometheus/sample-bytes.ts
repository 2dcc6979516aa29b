/**
 * Scans samples in the bytes of a response. They are nearly all of it: `JSON.parse` makes two objects of each and takes
 * ten times as long as scanning the bytes, which is enough for samples in the usual format of Prometheus. Samples in
 * any other format stay for `JSON.parse`.
 */
import { randomInt } from "node:crypto";

/** The samples of a series: bytes from `[[1767225600,"1.5"],…` on, whose end `scan` found. */
export interface SampleBytes {
  readonly bytes: Buffer;
  readonly from: number;
}

/** `at`: seconds since 1970. The value is the ASCII text from `from` to `to`. */
export type SampleSpanVisitor = (at: number, from: number, to: number) => void;

export interface WithoutSamples {
  /** The response, with a number in place of each list of samples. */
  readonly text: string;
  /** Samples by that number. */
  readonly samples: ReadonlyMap<unknown, SampleBytes>;
}

/**
 * Numbers from here on stand for samples. The upstream does not know this random number, so it cannot write one itself.
 */
const FIRST = randomInt(10 ** 14, 2 ** 47);
const NUMBER_LENGTH = String(FIRST).length;

const FIELD = Buffer.from('"values":[');

/**
 * Takes the samples out of a response. The rest is JSON if and only if the response was: in JSON, this text is the end
 * of a name and the beginning of an array, and only whole arrays are taken out.
 */
export function takeSamplesOut(body: Buffer): WithoutSamples {
  const rest = Buffer.allocUnsafe(body.length);
  const samples = new Map<unknown, SampleBytes>();
  let length = 0;
  let copied = 0;
  let field = body.indexOf(FIELD);
  while (field >= 0) {
    const from = field + FIELD.length - 1;
    const to = scanSamples(body, from, () => undefined);
    // The replacement must not be longer, so that it fits into the buffer.
    if (to !== undefined && to - from > NUMBER_LENGTH) {
      const number = FIRST + samples.size;
      length += body.copy(rest, length, copied, from);
      length += rest.write(String(number), length, "latin1");
      samples.set(number, { bytes: body, from });
      copied = to;
    }
    field = body.indexOf(FIELD, to ?? from);
  }
  length += body.copy(rest, length, copied);
  return { text: rest.toString("utf8", 0, length), samples };
}

const COMMA = 44;
const OPENING = 91;
const CLOSING = 93;
const QUOTE = 34;
const BACKSLASH = 92;
const ZERO = 48;
/** Seconds have ten digits. Fifteen are more than needed, and still exact. */
const MOST_DIGITS = 15;

/**
 * Visits samples that begin at `from`. Returns where they end, or undefined if they are in another format or there are
 * none.
 */
export function scanSamples(bytes: Buffer, from: number, visit: SampleSpanVisitor): number | undefined {
  let next = from;
  do {
    // `[` of the list or a comma, then `[` of the sample, and its time without leading zeros.
    next += 1;
    if (bytes[next] !== OPENING) return undefined;
    const digits = next + 1;
    let at = 0;
    for (next = digits; ; next += 1) {
      const digit = (bytes[next] ?? 0) - ZERO;
      if (digit < 0 || digit > 9) break;
      at = 10 * at + digit;
    }
    if (next === digits || next - digits > MOST_DIGITS || bytes[digits] === ZERO) return undefined;
    if (bytes[next] !== COMMA || bytes[next + 1] !== QUOTE) return undefined;
    const value = next + 2;
    for (next = value; bytes[next] !== QUOTE; next += 1) if (!isPlain(bytes[next])) return undefined;
    if (bytes[next + 1] !== CLOSING) return undefined;
    visit(at, value, next);
    next += 2;
  } while (bytes[next] === COMMA);
  return bytes[next] === CLOSING ? next + 1 : undefined;
}

/** Printable ASCII that JSON does not escape. */
function isPlain(code: number | undefined): boolean {
  return code !== undefined && code >= 32 && code < 127 && code !== BACKSLASH;
}
