/**
 * Joins several Arrow streams with the same columns into one: the schema of the first, the batches of all, one end. A
 * stream is a sequence of messages: `FFFFFFFF`, the length of a description, the description, and a body whose length
 * the description contains. A length of 0 marks the end.
 */

const CONTINUATION = 0xffffffff;
const END = Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
const HEAD = 8;

/** Numbers from the format's definition of a message. */
const SCHEMA = 1;
const kindField = 1;
const bodyLengthField = 3;

export function arrowPieces() {
  let hasSchema = false;
  return {
    begin: () => Buffer.alloc(0),
    async *piece(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      let head: Buffer = Buffer.alloc(0);
      let left = 0; // bytes of the current message that are still to come
      let isPassedOn = true;
      let isEnded = false;
      for await (const chunk of source) {
        for (let rest = chunk; rest.length > 0; ) {
          if (left > 0) {
            const some = rest.subarray(0, left);
            left -= some.length;
            rest = rest.subarray(some.length);
            if (isPassedOn) yield some;
            continue;
          }
          head = Buffer.concat([head, rest]);
          const message = messageAt(head);
          if (message === undefined) break;
          isPassedOn = message.kind !== undefined && (message.kind !== SCHEMA || !hasSchema);
          hasSchema ||= message.kind === SCHEMA;
          isEnded = message.kind === undefined;
          left = message.length;
          rest = head;
          head = Buffer.alloc(0);
        }
      }
      if (!isEnded || left > 0) throw new Error("the engine's Arrow stream does not end as it should");
    },
    end: () => END,
  };
}

interface Message {
  /** Undefined for the end marker. */
  readonly kind: number | undefined;
  /** Includes head, description and body. */
  readonly length: number;
}

/** Returns undefined if the description is incomplete. */
function messageAt(bytes: Buffer): Message | undefined {
  if (bytes.length < HEAD) return undefined;
  if (bytes.readUInt32LE(0) !== CONTINUATION)
    throw new Error("the engine's Arrow stream has no message where it should be");
  const size = bytes.readUInt32LE(4);
  if (size === 0) return { kind: undefined, length: HEAD };
  if (bytes.length < HEAD + size) return undefined;
  const description = bytes.subarray(HEAD, HEAD + size);
  const kind = fieldAt(description, kindField);
  const body = fieldAt(description, bodyLengthField);
  return {
    kind: kind === undefined ? 0 : description.readUInt8(kind),
    length: HEAD + size + (body === undefined ? 0 : Number(description.readBigInt64LE(body))),
  };
}

/** Returns the offset of a field in a flatbuffer's root table; undefined if the field is omitted. */
function fieldAt(flatbuffer: Buffer, field: number): number | undefined {
  const table = flatbuffer.readUInt32LE(0);
  const vtable = table - flatbuffer.readInt32LE(table);
  const entry = 4 + 2 * field;
  const offset = entry < flatbuffer.readUInt16LE(vtable) ? flatbuffer.readUInt16LE(vtable + entry) : 0;
  return offset === 0 ? undefined : table + offset;
}
