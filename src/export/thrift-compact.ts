/**
 * The part of Thrift's compact protocol that a Parquet footer needs: parses it into a tree and back, byte for byte. The
 * tree keeps unknown fields, so that everything that an engine writes into a footer survives.
 */

/** Type numbers of the protocol. */
const thriftType = { true: 1, false: 2, i64: 6, list: 9, struct: 12 } as const;

export interface ThriftField {
  readonly id: number;
  readonly type: number;
  value: ThriftValue;
}
export interface ThriftStruct {
  readonly fields: ThriftField[];
}
export interface ThriftList {
  readonly type: number;
  readonly items: ThriftValue[];
}
/** Integers are bigints; unstructured values stay bytes. */
export type ThriftValue = bigint | boolean | Buffer | ThriftStruct | ThriftList;

export function readThrift(bytes: Buffer): ThriftStruct {
  const reader = { bytes, offset: 0 };
  const struct = readStruct(reader);
  if (reader.offset !== bytes.length) throw new Error("bytes behind the end of a Thrift structure");
  return struct;
}

export function writeThrift(struct: ThriftStruct): Buffer {
  const out: Buffer[] = [];
  writeStruct(out, struct);
  return Buffer.concat(out);
}

/** Returns the field with this id; undefined if there is none. */
export function fieldOf(struct: ThriftStruct, id: number): ThriftField | undefined {
  return struct.fields.find((field) => field.id === id);
}

interface Reader {
  readonly bytes: Buffer;
  offset: number;
}

function take(reader: Reader, length: number): Buffer {
  const taken = reader.bytes.subarray(reader.offset, reader.offset + length);
  if (taken.length !== length) throw new Error("a Thrift structure ends early");
  reader.offset += length;
  return taken;
}

const byte = (reader: Reader) => take(reader, 1)[0] ?? 0;

function readVarint(reader: Reader): bigint {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const next = byte(reader);
    value |= BigInt(next & 0x7f) << shift;
    if (next < 0x80) return value;
  }
}

const unzigzag = (value: bigint) => (value >> 1n) ^ -(value & 1n);

function readValue(reader: Reader, type: number): ThriftValue {
  switch (type) {
    case 3: // a byte
      return take(reader, 1);
    case 4:
    case 5:
    case 6:
      return unzigzag(readVarint(reader));
    case 7: // a double
      return take(reader, 8);
    case 8:
      return take(reader, Number(readVarint(reader)));
    case 9:
    case 10:
      return readList(reader);
    case 12:
      return readStruct(reader);
    default:
      throw new Error(`a Thrift type that no footer has: ${type}`);
  }
}

function readList(reader: Reader): ThriftList {
  const head = byte(reader);
  const short = head >> 4;
  const length = short === 15 ? Number(readVarint(reader)) : short;
  const type = head & 15;
  // Booleans in a list are bytes, unlike those of a field.
  const read = () => (type <= 2 ? take(reader, 1) : readValue(reader, type));
  return { type, items: Array.from({ length }, read) };
}

function readStruct(reader: Reader): ThriftStruct {
  const fields: ThriftField[] = [];
  for (let id = 0; ; ) {
    const head = byte(reader);
    if (head === 0) return { fields };
    const type = head & 15;
    id = head >> 4 === 0 ? Number(unzigzag(readVarint(reader))) : id + (head >> 4);
    const isBoolean = type === thriftType.true || type === thriftType.false;
    fields.push({ id, type, value: isBoolean ? type === thriftType.true : readValue(reader, type) });
  }
}

function writeVarint(out: Buffer[], value: bigint): void {
  const bytes: number[] = [];
  for (let left = value; ; left >>= 7n) {
    const low = Number(left & 0x7fn);
    bytes.push(left > 0x7fn ? low | 0x80 : low);
    if (left <= 0x7fn) break;
  }
  out.push(Buffer.from(bytes));
}

const zigzag = (value: bigint) => (value < 0n ? -value * 2n - 1n : value * 2n);

function writeValue(out: Buffer[], type: number, value: ThriftValue): void {
  if (typeof value === "bigint") writeVarint(out, zigzag(value));
  else if (Buffer.isBuffer(value)) {
    if (type === 8) writeVarint(out, BigInt(value.length));
    out.push(value);
  } else if (typeof value === "object" && "items" in value) writeList(out, value);
  else if (typeof value === "object") writeStruct(out, value);
}

function writeList(out: Buffer[], { type, items }: ThriftList): void {
  out.push(Buffer.from([(Math.min(items.length, 15) << 4) | type]));
  if (items.length >= 15) writeVarint(out, BigInt(items.length));
  for (const item of items) writeValue(out, type, item);
}

function writeStruct(out: Buffer[], { fields }: ThriftStruct): void {
  let before = 0;
  for (const { id, type, value } of fields) {
    const step = id - before;
    const isShort = step > 0 && step < 16;
    out.push(Buffer.from([isShort ? (step << 4) | type : type]));
    if (!isShort) writeVarint(out, zigzag(BigInt(id)));
    writeValue(out, type, value);
    before = id;
  }
  out.push(Buffer.from([0]));
}
