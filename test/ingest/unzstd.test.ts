/** Files that zstd itself has compressed, in all its modes: they are unpacked to their original bytes. */
import { execFileSync } from "node:child_process";
import { setImmediate } from "node:timers/promises";
import t from "tap";
import { UnreadableFileError } from "../../src/focus/format.js";
import { unzstd } from "../../src/ingest/csv/unzstd.js";
import { needs } from "../programs.js";
import fc from "../property.js";
import { Classes } from "./classes.js";

const DAMAGED = { code: "ZSTD_damaged" };

function packed(content: Uint8Array, options: readonly string[] = [], program = "zstd"): Buffer {
  return execFileSync(program, ["-c", "-q", ...options], { input: content, maxBuffer: 2 ** 28 });
}

/** Splits the bytes into pieces of this size. */
async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    await setImmediate();
    yield bytes.subarray(at, at + size);
  }
}

async function unpacked(bytes: Uint8Array, size = 65_536): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of unzstd(pieces(bytes, size))) parts.push(part);
  return Buffer.concat(parts);
}

function isDamaged(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === DAMAGED.code;
}

const kinds = {
  nothing: fc.constant(Buffer.alloc(0)),
  "a run": fc.integer({ min: 1, max: 400_000 }).map((length) => Buffer.alloc(length, "a")),
  noise: fc.integer({ min: 1, max: 300_000 }).map((length) => noise(length)),
  rows: fc.integer({ min: 1, max: 20_000 }).map((lines) => Buffer.from(rows(lines))),
};
type Kind = keyof typeof kinds;

/** Returns the same bytes each time. */
function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0, state = length; at < length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

function rows(lines: number): string {
  return Array.from({ length: lines }, (_, at) => `${at},i-${(at * 7919) % 997},${at % 31}.5\n`).join("");
}

const ways = [
  "-1",
  "-3",
  "-19",
  "--no-check",
  "--no-content-size",
  "--long=24",
  "pzstd",
  "two frames",
] as const;

function packedBy(way: (typeof ways)[number], content: Buffer): Buffer {
  if (way === "pzstd") return packed(content, [], way);
  if (way !== "two frames") return packed(content, [way]);
  const half = content.length >>> 1;
  return Buffer.concat([packed(content.subarray(0, half)), packed(content.subarray(half))]);
}

t.test("anything packed is unpacked, in whatever pieces it arrives", needs("zstd", "pzstd"), async (t) => {
  const classes = new Classes<Kind | (typeof ways)[number]>();
  const contents = (Object.keys(kinds) as Kind[]).map((kind) =>
    kinds[kind].map((content) => ({ kind, content })),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(...contents),
      fc.constantFrom(...ways),
      fc.constantFrom(7, 1000, 65_536, 2 ** 24),
      async ({ kind, content }, way, size) => {
        const file = packedBy(way, content);
        // A byte at a time takes long.
        const got = await unpacked(file, file.length / size > 5000 ? 1000 : size);
        classes.met(kind);
        classes.met(way);
        return got.equals(content);
      },
    ),
    { numRuns: 120 },
  );
  t.strictSame(classes.missing([...(Object.keys(kinds) as Kind[]), ...ways], 1), []);
});

t.test("a file that is cut off anywhere is damaged", needs("zstd"), async (t) => {
  const content = Buffer.concat([Buffer.from(rows(3000)), noise(300)]);
  const first = packed(Buffer.from("a"));
  const files = [
    packed(content),
    packed(content, ["--no-check"]),
    Buffer.concat([first, packed(content, ["--no-check", "--no-content-size"])]),
  ];
  for (const file of files) {
    const lengths = Array.from({ length: file.length - 1 }, (_, at) => at + 1).filter(
      (length) => length < 40 || length > file.length - 40 || length % 97 === 0,
    );
    const unnoticed = [];
    for (const length of lengths) {
      const outcome = await unpacked(file.subarray(0, length)).catch((error: unknown) => error);
      if (!isDamaged(outcome)) unnoticed.push(length);
    }
    // Where the first of two frames ends, a whole file could.
    t.strictSame(unnoticed, file === files[2] ? [first.length] : []);
  }
});

t.test("a changed bit is found", needs("zstd"), async (t) => {
  const content = Buffer.from(rows(3000));
  const file = packed(content);
  let changed = 0;
  for (let bit = 0; bit < file.length * 8; bit += 53) {
    const damaged = Buffer.from(file);
    damaged.writeUInt8(damaged.readUInt8(bit >>> 3) ^ (1 << (bit & 7)), bit >>> 3);
    const got = await unpacked(damaged).catch((error: unknown) => error);
    if (
      got instanceof Buffer ? !got.equals(content) : !(isDamaged(got) || got instanceof UnreadableFileError)
    )
      changed += 1;
  }
  t.equal(changed, 0);
});

t.test("a file that would take too much memory is refused", needs("zstd"), async (t) => {
  const content = Buffer.from(rows(10));
  await t.rejects(unpacked(Buffer.concat([packed(content), Buffer.from("more")])), DAMAGED);
  await t.rejects(unpacked(Buffer.from([...frameOf(0x00), 0xff])), {
    name: "UnreadableFileError",
    message: "is compressed with zstd in a window of more than 128 MiB",
  });
  // A single segment of 4 GiB.
  await t.rejects(unpacked(Buffer.from([...frameOf(0xa0), 0xff, 0xff, 0xff, 0xff])), {
    message: "is compressed with zstd in a window of more than 128 MiB",
  });
  await t.rejects(unpacked(Buffer.from([...frameOf(0x01), 0x50, 7])), {
    message: "is compressed with a dictionary of zstd",
  });
  await t.rejects(unpacked(Buffer.from([...frameOf(0x08), 0x50])), DAMAGED);
});

function frameOf(flags: number): number[] {
  return [0x28, 0xb5, 0x2f, 0xfd, flags];
}

t.test("a large result comes in small pieces, and only on demand", needs("zstd"), async (t) => {
  const bomb = packed(Buffer.alloc(2 ** 27), ["--no-content-size"]);
  t.ok(bomb.length < 2 ** 15, `${bomb.length} bytes`);
  let largest = 0;
  let sum = 0;
  for await (const part of unzstd(pieces(bomb, bomb.length))) {
    largest = Math.max(largest, part.length);
    sum += part.length;
  }
  t.strictSame({ sum, isSmall: largest <= 2 ** 17 }, { sum: 2 ** 27, isSmall: true });

  let closed = false;
  async function* endless() {
    try {
      for (;;) yield packed(Buffer.alloc(1000));
    } finally {
      closed = true;
    }
  }
  for await (const part of unzstd(endless())) {
    t.equal(part.length, 1000);
    break;
  }
  t.ok(closed, "the stream is closed when nobody reads it any more");
});
