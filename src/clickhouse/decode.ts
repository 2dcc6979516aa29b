/** Decodes the values of a response by their ClickHouse types, such as a count that arrives as text. */

export type Decode = (value: unknown) => unknown;

/**
 * Returns the decoder for the values of a type, or undefined if they need none. Decimals and integers of more than 64
 * bits stay text, so that no digit is lost.
 */
export function decoderOf(type: string): Decode | undefined {
  const [, wrapper = "", inside = ""] = /^(Nullable|LowCardinality|Array)\((.*)\)$/s.exec(type) ?? [];
  if (wrapper === "Array") return decodeEach(decoderOf(inside));
  if (wrapper !== "") return decoderOf(inside);
  if (type === "UInt64" || type === "Int64") return wholeNumber;
  if (/\bU?Int64\b/.test(type)) throw new TypeError(`columns of type ${type} are not read`);
  return undefined;
}

function wholeNumber(value: unknown): unknown {
  if (value === null) return null;
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${value} is too large for a number`);
  return number;
}

function decodeEach(decode: Decode | undefined): Decode | undefined {
  return decode && ((values) => (Array.isArray(values) ? values.map(decode) : values));
}
