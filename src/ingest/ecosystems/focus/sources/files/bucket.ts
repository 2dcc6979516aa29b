/** A file source with bills in a bucket of Amazon S3, or of a service with the same protocol. */
import { type BucketOptions, bucketClient } from "../../../../../upstream/s3/client.js";
import type { ListedObject } from "../../../../../upstream/s3/listing.js";
import { FileChangedError } from "../delivery.js";
import { isWorthNaming, leftoverOf, nameProblem } from "../file-names.js";
import { counted } from "./counted.js";
import type { FileListing, FileSource, StoredFile } from "./file-source.js";

export interface BucketSourceOptions extends BucketOptions {
  readonly prefix: string;
  readonly maxFiles: number;
}

/** Storage classes whose objects must be restored first, which takes hours and costs money. */
const ARCHIVED = new Set(["GLACIER", "DEEP_ARCHIVE"]);

export function bucketSource({ prefix, maxFiles, ...options }: BucketSourceOptions): FileSource {
  const client = bucketClient(options);
  const tooMany = () =>
    new Error(`s3://${options.bucket}/${prefix}: there are more than ${maxFiles} files (limits.max_files)`);
  return {
    async list(signal): Promise<FileListing> {
      const objects = await client.list(prefix, maxFiles, tooMany, signal);
      const skippedAs = ({ key }: ListedObject) => leftoverOf(key.slice(prefix.length));
      const leftovers = objects.flatMap((object) => skippedAs(object) ?? []);
      const files = filesOf(
        objects.filter((object) => skippedAs(object) === undefined),
        prefix,
      );
      const isKey = prefix !== "" && !prefix.endsWith("/");
      if (isKey && files.length === 0 && objects.some(({ key }) => key.startsWith(`${prefix}/`))) {
        const location = `s3://${options.bucket}/${prefix}`;
        throw new Error(
          `${location} is no file, and there are files below it: to read them, end \`location\` with a slash (${location}/)`,
        );
      }
      return { files, skipped: [], leftovers: [...new Set(leftovers)].filter(isWorthNaming) };
    },
    async open(file, signal) {
      const { status, headers, body } = await client.get(file.name, file.version, signal);
      const etag = headers.etag?.replace(/^"(.*)"$/s, "$1");
      const length = headers["content-length"] ?? String(file.size);
      if (status !== 200 || length !== String(file.size) || (etag !== undefined && etag !== file.version)) {
        body.destroy();
        throw new FileChangedError(file.name);
      }
      return counted(body, file, signal);
    },
    close: async () => client.close(),
  };
}

function filesOf(objects: readonly ListedObject[], prefix: string): StoredFile[] {
  const inside = (key: string) =>
    prefix === "" || prefix.endsWith("/") ? key.startsWith(prefix) : key === prefix;
  return objects
    .filter(({ key }) => inside(key) && !key.endsWith("/"))
    .map(({ key, size, etag, modified, storageClass }) => {
      const archived = ARCHIVED.has(storageClass)
        ? `it is archived (${storageClass}): restore it`
        : undefined;
      const problem = nameProblem(key) ?? archived;
      return { name: key, size, version: etag, modified, ...(problem === undefined ? {} : { problem }) };
    });
}
