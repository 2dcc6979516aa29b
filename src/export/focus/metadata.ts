/** The metadata that FOCUS requires with a file: its columns, and how recent and complete its days are. */
import { createHash } from "node:crypto";
import { DAY_SECONDS } from "../../common/days.js";
import type { ExportVersion } from "../../domain/export-versions.js";
import { columnsOf } from "../../focus/index.js";
import type { TrackingDate } from "../../query/state/tenant-status.js";
import type { FocusOutColumn } from "./columns.js";

export interface FocusMetadataInput {
  readonly tenantName: string;
  readonly version: ExportVersion;
  /** Version of the service. */
  readonly generatorVersion: string;
  readonly columns: readonly FocusOutColumn[];
  /** The days of the file. */
  readonly days: readonly Pick<TrackingDate, "tracking_date" | "state" | "last_success" | "provisional">[];
  /** The current time in RFC 3339, used if nothing is published yet. */
  readonly now: string;
}

const dataTypes = { String: "STRING", Decimal: "DECIMAL", "Date/Time": "DATETIME", JSON: "JSON" } as const;

/** Returns the objects of the specification. The id of a schema is a hash of its content. */
export function focusMetadata(input: FocusMetadataInput) {
  const { tenantName, version, generatorVersion, columns, now } = input;
  const published = input.days.flatMap(({ tracking_date, state, last_success, provisional }) =>
    (state === "published" || state === "outdated") && last_success !== null
      ? [{ tracking_date, last_success, isComplete: state === "published" && !provisional }]
      : [],
  );
  const times = published.map(({ last_success }) => last_success).sort();
  const [first = now] = times;
  const last = times.at(-1) ?? now;
  const instance = uuidOf([tenantName, "CostAndUsage"]);
  const definitions = columns.map(({ name, type }) => ({
    ColumnName: name,
    DataType: dataTypes[type],
    ...(type === "Decimal" ? { NumericPrecision: 38, NumberScale: 12 } : {}),
    ...(type === "String" || type === "JSON" ? { StringEncoding: "UTF-8" } : {}),
    ...(isDeprecated(name, version) ? { Deprecated: true } : {}),
  }));
  return {
    DataGenerator: { DataGenerator: "chargehouse", DataGeneratorVersion: generatorVersion },
    DatasetInstance: [
      {
        DatasetInstanceId: instance,
        DatasetInstanceName: `${tenantName} chargebacks`,
        FocusDatasetId: "CostAndUsage",
      },
    ],
    Recency: [
      {
        DatasetInstanceId: instance,
        RecencyLastUpdated: last,
        DatasetInstanceLastUpdated: last,
        TimeSectors: published.map(({ tracking_date, last_success, isComplete }) => ({
          TimeSectorStart: `${tracking_date}T00:00:00Z`,
          TimeSectorEnd: nextMidnight(tracking_date),
          TimeSectorComplete: isComplete,
          TimeSectorLastUpdated: last_success,
        })),
      },
    ],
    Schema: [
      {
        SchemaId: uuidOf([
          version,
          generatorVersion,
          ...definitions.map((definition) => JSON.stringify(definition)),
        ]),
        FocusVersion: version,
        CreationDate: first,
        DataGeneratorVersion: generatorVersion,
        DatasetInstanceId: instance,
        ColumnDefinition: definitions,
      },
    ],
  };
}

function isDeprecated(name: string, version: ExportVersion): boolean {
  return columnsOf(version).some((column) => column.name === name && column.deprecated === version);
}

function nextMidnight(day: string): string {
  return new Date(Date.parse(day) + DAY_SECONDS * 1000).toISOString().replace(".000Z", "Z");
}

/** Derives a UUID from its parts. Version 8 leaves the bits to the application. */
export function uuidOf(parts: readonly string[]): string {
  const hex = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  const variant = "89ab".charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
