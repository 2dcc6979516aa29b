/** Encodes the engine's output for the client: blocks of the client's revision, and ClickHouse's own compression. */
import { compress } from "./compressed-blocks.js";
import { nativeBlocks } from "./native-blocks.js";

export interface ResponseEncoding {
  encode(chunk: Buffer): Buffer;
  /** Returns what was held back. Throws if the output cannot be complete. */
  end(): Buffer;
}

/** @param format returns the format of the response, once the statement is known */
export function responseEncoding(
  queryRequest: { readonly compress: boolean; readonly revision: number },
  format: () => string,
): ResponseEncoding {
  let blocks: ReturnType<typeof nativeBlocks> | undefined;
  return {
    encode(chunk) {
      const native = queryRequest.revision > 0 && format().toLowerCase() === "native";
      if (native) blocks ??= nativeBlocks(queryRequest.revision);
      const output = blocks === undefined ? chunk : blocks.take(chunk);
      return queryRequest.compress ? compress(output) : output;
    },
    end() {
      const rest = blocks?.end() ?? Buffer.alloc(0);
      return queryRequest.compress ? compress(rest) : rest;
    },
  };
}
