/**
 * The manifest of a set of files, in the format of Microsoft's cost exports, which FOCUS readers know. It is written
 * last: a run without a manifest is incomplete. Additional fields have what that format has no place for.
 */
import type { FocusFileFormat } from "../../../config/settings/emitters.js";
import type { ExportVersion } from "../../../domain/export-versions.js";
import type { focusMetadata } from "../../focus/metadata.js";
import type { WrittenFile } from "./file-store.js";

export interface WrittenPart extends WrittenFile {
  /** Path relative to the location. */
  readonly name: string;
  readonly rows: number;
}

/** Totals of one billing currency. Decimals are text. */
export interface ManifestCurrencyTotals {
  readonly currency: string;
  readonly rows: number;
  readonly BilledCost: string;
  readonly EffectiveCost: string;
  readonly ListCost: string;
  readonly ContractedCost: string;
}

export interface ManifestInput {
  readonly tenantName: string;
  readonly emitter: string;
  readonly runId: string;
  readonly firstDay: string;
  readonly lastDay: string;
  /** Hash of the input. Equal hashes mean the same chargebacks. */
  readonly contentHash: string;
  readonly provisional: boolean;
  readonly version: ExportVersion;
  readonly format: FocusFileFormat;
  readonly parts: readonly WrittenPart[];
  readonly totals: readonly ManifestCurrencyTotals[];
  readonly metadata: ReturnType<typeof focusMetadata>;
  /** RFC 3339. */
  readonly now: string;
}

const formats = {
  parquet: { fileFormat: "Parquet", compressionMode: "ZSTD" },
  csv: { fileFormat: "Csv", compressionMode: "None" },
  "csv.gz": { fileFormat: "Csv", compressionMode: "Gzip" },
} as const;

export function manifestOf(input: ManifestInput) {
  const { tenantName, emitter, runId, firstDay, lastDay, parts, totals } = input;
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    manifestVersion: "2024-04-01",
    byteCount: sum(parts.map(({ bytes }) => bytes)),
    blobCount: parts.length,
    dataRowCount: sum(parts.map(({ rows }) => rows)),
    exportConfig: {
      exportName: emitter,
      resourceId: `/chargehouse/${tenantName}`,
      type: "FocusCost",
      dataVersion: input.version,
      timeFrame: "Custom",
    },
    deliveryConfig: {
      partitionData: true,
      dataOverwriteBehavior: "CreateNewReport",
      ...formats[input.format],
    },
    runInfo: {
      runId,
      submittedTime: input.now,
      startDate: `${firstDay}T00:00:00Z`,
      endDate: `${lastDay}T00:00:00Z`,
    },
    blobs: parts.map(({ name, bytes, rows, sha256 }) => ({
      blobName: name,
      byteCount: bytes,
      dataRowCount: rows,
      sha256,
    })),
    totals,
    provisional: input.provisional,
    contentHash: input.contentHash,
    metadata: input.metadata,
  };
}
