/** What is done to the engine's output on its way to the client: blocks of the client's revision, and ClickHouse's own compression. */
import { compress } from "./compressed-blocks.js";
import { nativeBlocks } from "./native-blocks.js";

export interface ResponseEncoding {
  encode(chunk: Buffer): Buffer;
  /** What was held back. Throws when the output cannot have been whole. */
  end(): Buffer;
}

/** @param format of the answer, once the statement is known */
export function responseEncoding(
  asked: { readonly compress: boolean; readonly revision: number },
  format: () => string,
): ResponseEncoding {
  let blocks: ReturnType<typeof nativeBlocks> | undefined;
  return {
    encode(chunk) {
      const native = asked.revision > 0 && format().toLowerCase() === "native";
      if (native) blocks ??= nativeBlocks(asked.revision);
      const output = blocks === undefined ? chunk : blocks.take(chunk);
      return asked.compress ? compress(output) : output;
    },
    end() {
      const rest = blocks?.end() ?? Buffer.alloc(0);
      return asked.compress ? compress(rest) : rest;
    },
  };
}
