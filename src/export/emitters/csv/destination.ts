/** Writes CSV files to a folder, one for each day or month. */
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import { engineBytes } from "../../../clickhouse/engine-bytes.js";
import { fileNameOf } from "../../../config/settings/emitted-file.js";
import { type CsvEmitter, emitterName, type FilePipeline } from "../../../config/settings/emitters.js";
import { bareLines } from "../../../query/csv-cell.js";
import { checkLease } from "../check-lease.js";
import type { Destination } from "../destination.js";
import type { Emission } from "../emission.js";
import { fileLayouts } from "../file-layout.js";
import { isPlainFile, openOutputFolder, removeFile, replaceFile } from "../output-folder.js";
import { type CsvContent, csvHeaderRow, csvRows } from "./rows.js";

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
