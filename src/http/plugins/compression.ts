/** Compresses responses for clients that accept it. */
import compress from "@fastify/compress";
import fp from "fastify-plugin";

export const compression = fp(
  async (app) => {
    // gzip alone: brotli is slow on long exports. Level 3 is twice as fast as the default and a tenth larger.
    // Bodies are read as they are: what claims to be compressed is no JSON, whatever the claim.
    await app.register(compress, {
      ...{ encodings: ["gzip"], threshold: 1024, zlibOptions: { level: 3 } },
      globalDecompression: false,
    });
  },
  { name: "compression" },
);
