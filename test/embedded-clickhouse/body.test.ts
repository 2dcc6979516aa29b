/** A body that breaks is an error for its reader at any time, and the process continues. */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import t from "tap";
import { decodedBody, readBody } from "../../src/embedded-clickhouse/server/body.js";

const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };

function requestOf(encoding: string, sent: Buffer): IncomingMessage {
  return Object.assign(Readable.from([sent]), {
    headers: { "content-encoding": encoding },
  }) as unknown as IncomingMessage;
}

for (const [encoding, encode] of Object.entries(encoders)) {
  for (const cut of [0, 5]) {
    for (const waits of [0, 50]) {
      t.test(`${encoding}, cut after ${cut} bytes, read after ${waits} ms`, async (t) => {
        const body = readBody(decodedBody(requestOf(encoding, encode("some rows").subarray(0, cut))));
        await delay(waits);
        await t.rejects(body.upTo(100), {
          message: "The request's body could not be read: unexpected end of file",
        });
      });
    }
  }
}
