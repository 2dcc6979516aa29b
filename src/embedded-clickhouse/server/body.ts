/**
 * Reads the body of a request: the statement (or its end), and an insert's data. Data is written to a file before the
 * engine sees any of it, so that an upload that breaks inserts nothing, memory stays flat, and binary formats work like
 * text.
 */
import { randomUUID } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { open, unlink } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { exception, type ServerException } from "./exception.js";
import { header } from "./request.js";

export interface Spool {
  readonly path: string;
  readonly bytes: number;
  remove(): Promise<void>;
}

/** How much of a body is read before it is decided whether it is an insert followed by data. */
export const HEAD_BYTES = 256 * 1024;
/** Longer statements are refused. The engine's own limit (max_query_size) is lower unless raised. */
export const MAX_STATEMENT_BYTES = 64 * 1024 * 1024;

const DECODERS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Returns the body without its Content-Encoding. A truncated body ends with an error, never with a normal end. */
export function decodedBody(request: IncomingMessage): Readable {
  const encoding = header(request, "content-encoding")?.toLowerCase() ?? "identity";
  if (encoding === "identity") return request;
  if (!(encoding in DECODERS)) {
    throw exception(
      "NOT_IMPLEMENTED",
      `Content-Encoding ${encoding} is not supported, use gzip, deflate or br`,
    );
  }
  const decoder = DECODERS[encoding as keyof typeof DECODERS]();
  pipeline(request, decoder, () => undefined);
  // It may break before it is read. The reader gets the error then.
  return decoder.on("error", () => undefined);
}

/** Reads a body in pieces: first its head, then the rest. */
export interface BodyReader {
  /** Reads on until `bytes` have been read or the body ends. Returns everything read so far. */
  upTo(bytes: number): Promise<{ readonly data: Buffer; readonly complete: boolean }>;
  /** Writes `first` and the unread rest to a file in `directory`. */
  spool(directory: string, first: Buffer): Promise<Spool>;
}

export function readBody(body: Readable): BodyReader {
  const chunks = body[Symbol.asyncIterator]();
  let read: Buffer = Buffer.alloc(0);
  let complete = false;

  async function next(): Promise<Buffer | undefined> {
    try {
      const { value, done } = await chunks.next();
      if (done === true) complete = true;
      return done === true ? undefined : Buffer.from(value);
    } catch (error) {
      throw brokenBody(error);
    }
  }

  return {
    async upTo(bytes) {
      const parts = [read];
      let length = read.length;
      while (!complete && length < bytes) {
        const chunk = await next();
        if (chunk === undefined) break;
        parts.push(chunk);
        length += chunk.length;
      }
      read = Buffer.concat(parts);
      return { data: read, complete };
    },
    async spool(directory, first) {
      const path = join(directory, `insert-${randomUUID()}`);
      const file = await open(path, "wx", 0o600);
      try {
        let bytes = await write(file, first);
        for (let chunk = await next(); chunk !== undefined; chunk = await next())
          bytes += await write(file, chunk);
        return { path, bytes, remove: () => unlink(path) };
      } catch (error) {
        await unlink(path);
        throw error;
      } finally {
        await file.close();
      }
    },
  };
}

async function write(file: FileHandle, chunk: Buffer): Promise<number> {
  if (chunk.length > 0) await file.writeFile(chunk);
  return chunk.length;
}

function brokenBody(error: unknown): ServerException {
  return exception(
    "INCORRECT_DATA",
    `The request's body could not be read: ${error instanceof Error ? error.message : error}`,
  );
}
