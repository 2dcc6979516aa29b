/**
 * Turns the bills that a layout found into deliveries: complete, unchanged for long enough, within the limits, one for
 * each month.
 */
import { createHash } from "node:crypto";
import type { Delivery, PendingBill, SourceListing } from "./delivery.js";
import { compareNames } from "./file-names.js";
import type { FileSource, StoredFile, Waiting } from "./files/file-source.js";
import { type BillFile, groupFiles } from "./layouts/layout.js";
import { type BillSourceSettings, DEFAULT_UNPACKED_MIB } from "./settings.js";

export interface AssembleInput {
  readonly source: string;
  readonly limits: BillSourceSettings["limits"];
  readonly now: number;
  readonly open: FileSource["open"];
  /** Digest of the content of each manifest that was read. */
  readonly manifestDigests: ReadonlyMap<StoredFile, string>;
}

const MIB = 1_048_576;

export function assemble(bills: readonly BillFile[], input: AssembleInput): Omit<SourceListing, "remarks"> {
  const waiting: Waiting[] = [];
  const pending: PendingBill[] = [];
  const deliveries: Delivery[] = [];
  const scopeOf = ({ kind, name, billing_period: month }: BillFile) =>
    kind === "additive" ? `file ${name}` : `month ${month ?? ""}`;
  for (const scope of groupFiles(bills, scopeOf).values()) {
    const checked = scope.map((bill) => ({ bill, problem: bill.problem ?? obstacle(bill, input) }));
    // A delivery replaces the whole month, so half a month must not become one.
    if (checked.every(({ problem }) => problem === undefined)) deliveries.push(deliveryOf(scope, input));
    else
      for (const { bill, problem } of checked) {
        pending.push({ billing_period: bill.billing_period, kind: bill.kind });
        waiting.push({
          name: titleOf(bill),
          reason: problem ?? "another export of this month is not complete",
        });
      }
  }
  const order = (delivery: Delivery) => `${delivery.billing_period ?? ""}\n${delivery.files[0]?.name ?? ""}`;
  return { deliveries: deliveries.sort((a, b) => compareNames(order(a), order(b))), pending, waiting };
}

const titleOf = ({ name, billing_period: month, kind }: BillFile) =>
  month === undefined || kind === "additive" || name === month ? name : `${name}, ${month}`;

const byName = (a: { readonly name: string }, b: { readonly name: string }) => compareNames(a.name, b.name);

/** Returns why a bill whose files are all present is not taken. */
function obstacle({ files, manifest }: BillFile, { limits, now }: AssembleInput): string | undefined {
  const settle = limits.settle_seconds * 1000;
  for (const file of [...files, ...(manifest === undefined ? [] : [manifest])].sort(byName)) {
    if (file.problem !== undefined) return `${JSON.stringify(file.name)}: ${file.problem}`;
    if (file.size > limits.max_file_mib * MIB)
      return `${file.name} is larger than ${limits.max_file_mib} MiB (limits.max_file_mib)`;
    // A modification time in the future, from a wrong clock, does not hold a bill back forever.
    if (Math.abs(now - file.modified) < settle)
      return `${file.name} changed less than ${limits.settle_seconds} seconds ago (limits.settle_seconds)`;
  }
  return undefined;
}

/** All bills are of one scope and complete. */
function deliveryOf(
  bills: readonly BillFile[],
  { source, open, limits: { max_unpacked_mib: maxUnpackedMib }, manifestDigests }: AssembleInput,
): Delivery {
  const ordered = [...bills].sort(byName);
  const [first] = ordered;
  const files = ordered
    .flatMap((bill) =>
      bill.files.map((file) => ({
        file,
        ...file,
        unit: bill.manifest === undefined ? undefined : bill.name,
      })),
    )
    .sort(byName);
  const manifests = ordered.map(({ manifest }) =>
    manifest === undefined ? null : [manifest.name, manifestDigests.get(manifest) ?? ""],
  );
  // The limit is part of the id, so a bill that it refused is read again once the limit changes.
  const limitInId = maxUnpackedMib === DEFAULT_UNPACKED_MIB ? [] : [maxUnpackedMib];
  return {
    source,
    billing_period: first?.billing_period,
    kind: first?.kind ?? "snapshot",
    id: createHash("sha256")
      .update(
        JSON.stringify([
          files.map(({ name, size, version }) => [name, size, version]),
          manifests,
          ...limitInId,
        ]),
      )
      .digest("hex"),
    files: files.map(({ file, name, size, version, unit }) => ({
      name,
      size,
      version,
      unit,
      maxUnpackedMib,
      open: (signal) => open(file, signal),
    })),
    remarks: ordered.flatMap((bill) => bill.remarks),
    totals: ordered.flatMap((bill) => bill.totals ?? []),
  };
}
