/** Writes CSV files to a folder, one for each day or month. */
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import { engineBytes } from "../../../clickhouse/engine-bytes.js";
import type { Statement } from "../../../clickhouse/statement.js";
import { fileNameOf } from "../../../config/settings/emitted-file.js";
import { type CsvEmitter, emitterName, type FilePipeline } from "../../../config/settings/emitters.js";
import { bareLines, textCell } from "../../../query/csv-cell.js";
import { checkLease } from "../check-lease.js";
import type { Destination } from "../destination.js";
import type { Emission } from "../emission.js";
import { type FileLayout, fileLayouts } from "../file-layout.js";
import { isPlainFile, openOutputFolder, removeFile, replaceFile } from "../output-folder.js";

export function csvDestination(emission: Emission, emitter: CsvEmitter, pipeline: FilePipeline): Destination {
  const { client, tenantName, signal } = emission;
  const { aggregation = null, params } = emitter;
  const span: Destination["span"] = aggregation === "monthly" ? "month" : "day";
  return {
    span,
    settings: [emitterName(emitter), pipeline, aggregation, params],
    async open() {
      const folder = await openOutputFolder(params.output_dir, tenantName);
      return {
        async write({ firstDay, lastDay, provisional }) {
          const sums = aggregation === null ? undefined : span;
          const content = { layout: fileLayouts[pipeline], sums, firstDay, lastDay, raw: params.raw };
          const named = { ...emission, pipeline, firstDay };
          const written = await replaceFile(folder, {
            name: fileNameOf(emitter, { ...named, provisional }),
            content: csvBytes(client, content, signal),
            beforeReplacing: () => checkLease(emission),
            signal,
          });
          const otherName = fileNameOf(emitter, { ...named, provisional: !provisional });
          return { ...written, otherName: join(folder.path, otherName) };
        },
        isThere: isPlainFile,
        remove: (file) => removeFile(folder, file),
        close: async () => {},
      };
    },
  };
}

/** Streams the bytes of a file. */
async function* csvBytes(
  client: ClickHouseClient,
  content: CsvContent,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  yield Buffer.from(csvHeaderRow(content.layout));
  yield* await engineBytes(client, csvRows(content), signal, bareLines);
}

interface CsvContent {
  readonly layout: FileLayout;
  /** Undefined: single rows instead of sums. */
  readonly sums: "day" | "month" | undefined;
  /** UTC days, inclusive. */
  readonly firstDay: string;
  readonly lastDay: string;
  /** Do not escape cells that look like formulas. */
  readonly raw: boolean;
}

function csvHeaderRow({ columns }: FileLayout): string {
  return `${columns.join(",")}\n`;
}

/**
 * Returns a statement whose result is the bytes of the file. The order is total, so that the same rows produce the same
 * bytes.
 */
function csvRows(content: CsvContent): Statement {
  const { layout, sums, raw, firstDay, lastDay } = content;
  const { columns, order } = layout;
  const cell = (column: string, index: number) => {
    const isPlain = column === "timestamp" || column === "amount";
    const isLeftOut = sums !== undefined && layout.leftOutOfSums.includes(column);
    return `${isLeftOut ? "''" : isPlain ? `r.${column}` : textCell(`r.${column}`, raw)} AS cell_${index}`;
  };
  const from = sums === undefined ? rowsAsTheyAre(layout) : summed(layout, sums);
  const sorted =
    sums === undefined ? [...order, ...columns.filter((each) => !order.includes(each))] : keysOf(layout);
  return {
    query: `
SELECT
  ${columns.map(cell).join(",\n  ")}
FROM (${from}) AS r
ORDER BY ${sorted.map((column) => `r.${column}`).join(", ")}
FORMAT CustomSeparated`,
    params: { first_day: firstDay, last_day: lastDay },
  };
}

const IN_PERIOD = "day >= {first_day:Date} AND day <= {last_day:Date}";

function rowsAsTheyAre({ ledger, columns, order }: FileLayout): string {
  const read = [...new Set([...order, ...columns])].filter((column) => column !== "amount");
  return `SELECT ${read.join(", ")}, amount_hi + amount_lo AS amount FROM ${ledger.name} WHERE ${IN_PERIOD}`;
}

/** Exact sums, because decimals are added as integers. The timestamp is the start of the day or of the month. */
function summed(layout: FileLayout, span: "day" | "month"): string {
  const keys = keysOf(layout).filter((column) => column !== "timestamp");
  const begin = span === "day" ? "day" : "toStartOfMonth(day)";
  return `
  SELECT ${keys.join(", ")}, toDateTime(begins, 'UTC') AS timestamp, sum(amount_hi) + sum(amount_lo) AS amount
  FROM (SELECT ${keys.join(", ")}, ${begin} AS begins, amount_hi, amount_lo FROM ${layout.ledger.name} WHERE ${IN_PERIOD})
  GROUP BY begins, ${keys.join(", ")}`;
}

/** The columns that sums are grouped by. */
function keysOf({ columns, leftOutOfSums }: FileLayout): string[] {
  return columns.filter((column) => column !== "amount" && !leftOutOfSums.includes(column));
}
