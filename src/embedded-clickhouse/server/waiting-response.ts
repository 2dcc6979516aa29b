/**
 * The response to a query with `wait_end_of_query=1`: nothing is sent before the query is over, so that the status is
 * always correct. The output waits in a file, so that memory stays flat.
 */
import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { exception, type ServerException } from "./exception.js";
import { type QueryResponse, queryResponse, type ResponseOptions } from "./response.js";

export interface WaitingResponseOptions extends ResponseOptions {
  /** Called if the file cannot be written, such as on a full disk. The query need not go on. */
  readonly onFailure: (error: ServerException) => void;
}

export function waitingResponse(
  response: ServerResponse,
  options: WaitingResponseOptions,
  directory: string,
): QueryResponse {
  const path = join(directory, `response-${randomUUID()}`);
  const file = createWriteStream(path, { flags: "wx", mode: 0o600 });
  file.on("drain", options.onDrain);
  let failure: ServerException | undefined;
  file.on("error", (error: NodeJS.ErrnoException) => {
    failure = exception("NOT_ENOUGH_SPACE", `The response could not be buffered to its end: ${error.code}`);
    options.onFailure(failure);
  });
  let resume: () => void = () => undefined;
  const inner = queryResponse(response, { ...options, onDrain: () => resume() });
  response.once("close", () => resume());

  /** Closes the file, even if it could not be written. */
  async function close(): Promise<void> {
    if (failure !== undefined) return;
    file.end();
    await finished(file).catch(() => undefined);
  }

  async function discard(): Promise<void> {
    await close();
    await rm(path, { force: true });
  }

  return {
    // Output after a failure is discarded until the query has stopped.
    write: (chunk, passedOn) => failure !== undefined || file.write(chunk, passedOn),
    async end() {
      await close();
      if (failure !== undefined) throw failure;
      for await (const chunk of createReadStream(path)) {
        if (response.destroyed) break;
        if (inner.write(chunk)) continue;
        await new Promise<void>((resolve) => {
          resume = resolve;
          if (response.destroyed) resolve();
        });
      }
      await rm(path, { force: true });
      await inner.end();
    },
    async fail(error) {
      await discard();
      await inner.fail(error);
    },
    discard,
  };
}
