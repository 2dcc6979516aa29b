import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { defaultS3, type S3Settings, splitS3 } from "../../../config/settings/s3.js";
import { bucketClient } from "../../../upstream/s3/client.js";
import { digested, type FileStore } from "./file-store.js";

const MAX_FILES = 100_000;
/** Amazon's limit for an object that is written with one request. */
const MAX_OBJECT_BYTES = 5 * 2 ** 30;

export function bucketStore(location: string, settings: S3Settings = defaultS3): FileStore {
  const [bucket, key] = splitS3(location);
  const prefix = key === "" || key.endsWith("/") ? key : `${key}/`;
  const path = `s3://${bucket}/${prefix}`;
  const retries = { attempts: 5, baseDelayMs: 1000 };
  const client = bucketClient({ bucket, settings, env: process.env, now: Date.now, ...retries });
  return {
    path,
    /**
     * Objects are written atomically. The request needs length and digest first, so the file is spooled to the local
     * disk.
     */
    async put({ name, content, beforeReplacing = async () => {} }, signal) {
      const folder = await mkdtemp(join(tmpdir(), "chargehouse-emit-"));
      try {
        const spool = join(folder, "file");
        const digest = digested(content);
        await pipeline(digest.content(), createWriteStream(spool, { mode: 0o600 }), { signal });
        const written = digest.written();
        if (written.bytes > MAX_OBJECT_BYTES)
          throw new Error(`${path}${name}: an object has at most 5 GiB: write parquet or csv.gz`);
        await beforeReplacing();
        await client.put(`${prefix}${name}`, { ...written, open: () => createReadStream(spool) }, signal);
        return written;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    async list(folder, signal) {
      const below = `${prefix}${folder}/`;
      const tooMany = () => new Error(`s3://${bucket}/${below}: there are more than ${MAX_FILES} files`);
      const objects = await client.list(below, MAX_FILES, tooMany, signal);
      return objects.map(({ key }) => key.slice(prefix.length));
    },
    remove: (name, signal) => client.remove(`${prefix}${name}`, signal),
    close: () => client.close(),
  };
}
