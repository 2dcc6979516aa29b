/**
 * The answer to a query with `wait_end_of_query=1`: nothing is sent before the query is over, so that the status is always
 * the right one. The output waits in a file, so that memory stays flat.
 */
import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { unlink } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { type QueryResponse, queryResponse, type ResponseOptions } from "./response.js";

export function waitingResponse(
  response: ServerResponse,
  options: ResponseOptions,
  directory: string,
): QueryResponse {
  const path = join(directory, `answer-${randomUUID()}`);
  const file = createWriteStream(path, { flags: "wx", mode: 0o600 });
  file.on("drain", options.onDrain);
  let resume: () => void = () => undefined;
  const inner = queryResponse(response, { ...options, onDrain: () => resume() });
  response.once("close", () => resume());

  async function discard(): Promise<void> {
    file.end();
    await finished(file);
    await unlink(path);
  }

  return {
    write: (chunk) => file.write(chunk),
    async end() {
      file.end();
      await finished(file);
      for await (const chunk of createReadStream(path)) {
        if (response.destroyed) break;
        if (inner.write(chunk)) continue;
        await new Promise<void>((resolve) => {
          resume = resolve;
          if (response.destroyed) resolve();
        });
      }
      await unlink(path);
      await inner.end();
    },
    async fail(exception) {
      await discard();
      await inner.fail(exception);
    },
    discard,
  };
}
