/** Compresses responses for clients that accept it. */
import compress from "@fastify/compress";
import fp from "fastify-plugin";

export const compression = fp(
  async (app) => {
    // Only gzip, because brotli is slow on long exports. Level 3 is twice as fast as the default, and its output a
    // tenth larger.
    await app.register(compress, {
      encodings: ["gzip"],
      threshold: 1024,
      zlibOptions: { level: 3 },
      // Compressed request bodies are not supported: they are refused as invalid JSON.
      globalDecompression: false,
    });
  },
  { name: "compression" },
);
