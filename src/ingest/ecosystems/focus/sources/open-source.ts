/** Opens a configured source of bills: combines its file source and its layout into deliveries. */
import { createHash } from "node:crypto";
import pLimit from "p-limit";
import picomatch from "picomatch";
import { defaultS3 } from "../../../../config/settings/s3.js";
import { assemble } from "./assemble.js";
import type { BillSource, SourceListing } from "./delivery.js";
import { compareNames, DATA_EXTENSIONS, quoted } from "./file-names.js";
import { addressSource } from "./files/address.js";
import { bucketSource } from "./files/bucket.js";
import type { FileSource, StoredFile, Waiting } from "./files/file-source.js";
import { folderSource } from "./files/folder.js";
import { awsDataExports } from "./layouts/aws-data-exports.js";
import { azureExports } from "./layouts/azure-exports.js";
import { detect } from "./layouts/detect.js";
import { type Layout, type ManifestSchema, NotAManifestError } from "./layouts/layout.js";
import { oci } from "./layouts/oci.js";
import { plainLayout } from "./layouts/plain.js";
import { readLocation } from "./location.js";
import type { BillSourceSettings, LayoutName } from "./settings.js";

export interface SourceContext {
  /** The environment that `s3.credentials: environment` and `instance_role` read. Default: that of the process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Number of attempts of a request, and the wait before the second one, which then doubles. */
  readonly attempts?: number;
  readonly baseDelayMs?: number;
}

const LAYOUTS: Readonly<Record<LayoutName, Layout>> = {
  plain: plainLayout,
  oci,
  aws_data_exports: awsDataExports,
  azure_exports: azureExports,
};
/** Manifests that are read at the same time. */
const MANIFESTS_AT_ONCE = 8;
const LARGEST_MANIFEST_BYTES = 16 * 1_048_576;
/** More are not shown, because by then the reasons are the same. */
const MOST_WAITING = 100;

/** Opens no connection yet. Errors of `list` name what could not be read, and never a secret. */
export function openBillSource(settings: BillSourceSettings, context: SourceContext = {}): BillSource {
  const { name } = settings;
  const now = context.now ?? Date.now;
  const store = storeOf(settings, context, now);
  return {
    name,
    async list(signal): Promise<SourceListing> {
      const { files: found, skipped, leftovers } = await store.list(signal);
      const isExcluded = picomatch([...settings.exclude], { dot: true });
      const all = [...found].sort((a, b) => compareNames(a.name, b.name));
      const files = all.filter((file) => !isExcluded(file.name));
      const excluded = all.filter((file) => isExcluded(file.name)).map((file) => file.name);
      const remarks = [...leftoverRemarks(leftovers), ...excludedRemarks(excluded)];
      const layout = settings.layout === "auto" ? detect(files) : settings.layout;
      if (typeof layout !== "string")
        return { deliveries: [], pending: [], waiting: shown([...skipped, ...layout.waiting]), remarks };
      const delivery = settings.delivery ?? (layout === "oci" ? "additive" : "snapshot");
      const misfit = layout !== "plain" && delivery !== (layout === "oci" ? "additive" : "snapshot");
      if (misfit) {
        const reason = `the files are laid out as ${layout}, which is never ${delivery}: leave \`delivery\` out, or set \`layout: plain\``;
        return {
          deliveries: [],
          pending: [],
          waiting: shown([...skipped, { name: settings.location, reason }]),
          remarks,
        };
      }
      const manifests = manifestReader(store, signal);
      const at = now();
      const { bills, waiting, superseded } = await LAYOUTS[layout]({
        files,
        delivery,
        now: at,
        readManifest: manifests.read,
      });
      const assembled = assemble(bills, {
        source: name,
        limits: settings.limits,
        now: at,
        open: store.open,
        manifestDigests: manifests.digests,
      });
      const held = shown([...skipped, ...waiting, ...assembled.waiting]);
      const isEmpty = bills.length === 0 && held.length === 0;
      return {
        ...assembled,
        waiting: held,
        remarks,
        ...(superseded && { superseded }),
        ...(isEmpty && { nothing: nothingAt(settings.location, files.length) }),
      };
    },
    close: () => store.close(),
  };
}

const MOST_EXCLUDED = 5;

function excludedRemarks(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > MOST_EXCLUDED ? `, and ${names.length - MOST_EXCLUDED} more` : "";
  const shown = names.slice(0, MOST_EXCLUDED).map(quoted).join(", ");
  const files = names.length === 1 ? "1 file is" : `${names.length} files are`;
  return [`${files} left alone by \`exclude\`: ${shown}${more}`];
}

function storeOf(settings: BillSourceSettings, context: SourceContext, now: () => number): FileSource {
  const location = readLocation(settings.location);
  const retry = { attempts: context.attempts ?? 5, baseDelayMs: context.baseDelayMs ?? 1000 };
  const maxFiles = settings.limits.max_files;
  if (location.kind === "folder") return folderSource({ ...location, maxFiles });
  if (location.kind === "https")
    return addressSource({ url: location.url, settings: settings.https, ...retry });
  return bucketSource({
    ...location,
    settings: settings.s3 ?? defaultS3,
    maxFiles,
    env: context.env ?? process.env,
    now,
    ...retry,
  });
}

/**
 * Returns why a location is empty. A wrong folder, prefix or pattern looks the same as a bill that has not come yet.
 */
function nothingAt(location: string, files: number): string {
  if (files > 0) {
    const held = `${location} has ${files} ${files === 1 ? "file" : "files"}`;
    return `${held}, none of which ends in ${DATA_EXTENSIONS.join(", ")}`;
  }
  const place = readLocation(location);
  if (place.kind === "folder" && place.glob !== undefined) return `no file matches ${location}`;
  if (place.kind === "s3" && place.prefix !== "" && !place.prefix.endsWith("/"))
    return `there is no file ${location}`;
  return `${location} has no files`;
}

function manifestReader(store: FileSource, signal: AbortSignal) {
  const digests = new Map<StoredFile, string>();
  const limit = pLimit(MANIFESTS_AT_ONCE);
  async function read<T>(file: StoredFile, schema: ManifestSchema<T>): Promise<T> {
    if (file.problem !== undefined)
      throw new NotAManifestError(`${JSON.stringify(file.name)}: ${file.problem}`);
    if (file.size > LARGEST_MANIFEST_BYTES)
      throw new NotAManifestError(`${file.name} is too large for a manifest`);
    const bytes = await limit(async () => Buffer.concat(await (await store.open(file, signal)).toArray()));
    digests.set(file, createHash("sha256").update(bytes).digest("hex"));
    let value: unknown;
    try {
      value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    } catch {
      throw new NotAManifestError(`${file.name} is no JSON`);
    }
    if (!schema.check(value)) throw new NotAManifestError(`${file.name} is no manifest of this layout`);
    return value;
  }
  return { digests, read };
}

/** The number of paths that a sentence names at most. */
const MOST_LEFTOVERS = 5;

function leftoverRemarks(leftovers: readonly string[]): string[] {
  if (leftovers.length === 0) return [];
  const ordered = [...leftovers].sort(compareNames);
  const more = ordered.length > MOST_LEFTOVERS ? ` and ${ordered.length - MOST_LEFTOVERS} more` : "";
  const named = ordered.slice(0, MOST_LEFTOVERS).map(quoted).join(", ");
  const remarks = [`${named}${more}: skipped, because names that begin with \`_\` or \`.\` are no bills`];
  const table = ordered.find((path) => path.endsWith("_delta_log/"));
  if (table !== undefined)
    remarks.push(
      `${quoted(table)} belongs to a Delta table: files that the table no longer uses are charged as well, until VACUUM removes them`,
    );
  return remarks;
}

function shown(waiting: readonly Waiting[]): Waiting[] {
  const ordered = [...waiting].sort(
    (a, b) => compareNames(a.name, b.name) || compareNames(a.reason, b.reason),
  );
  const rest = ordered.length - MOST_WAITING;
  if (rest <= 0) return ordered;
  return [...ordered.slice(0, MOST_WAITING), { name: "…", reason: `and ${rest} more` }];
}
