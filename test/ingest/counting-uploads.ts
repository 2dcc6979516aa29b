/** The uploads of a store that count, as runs would gather them. */
import { readRows, type Statement } from "../../src/clickhouse/statement.js";
import { sendUploaded, uploadedDays } from "../../src/ingest/usage-uploads/in-effect.js";
import type { UploadStore } from "../../src/ingest/usage-uploads/take-upload.js";
import { recordingSink } from "./recording-sink.js";

const window = { start: "2026-06-01", end: "2026-06-05" };
const metrics = ["cpu", "gpu"];

export interface CountingUploads {
  /** `time metric resource identity: units`. */
  readonly facts: string[];
  /** Number of all uploads, counting or not. */
  readonly partitions: number;
}

export async function countingUploads(store: UploadStore): Promise<CountingUploads> {
  const selected: Statement[] = [];
  const sink = {
    ...recordingSink(),
    usageRows: async (select: Statement) => void selected.push(select),
    usageGapsOfBilled: async () => undefined,
  };
  await sendUploaded(store, await uploadedDays(store, window, metrics), sink, new AbortController().signal);
  const facts: string[] = [];
  for (const { query, params } of selected) {
    const summed = `SELECT concat(formatDateTime(timestamp, '%dT%H'), ' ', metric, ' ', resource_id, ' ', identity_id, ': ', toString(sum(micro_units))) AS fact
      FROM (${query}) GROUP BY timestamp, metric, resource_id, identity_id`;
    facts.push(
      ...(await readRows<{ fact: string }>(store.client, { query: summed, params })).map(({ fact }) => fact),
    );
  }
  const parts = { query: "SELECT toUInt32(uniqExact(upload_id)) AS parts FROM usage_uploads", params: {} };
  const [found] = await readRows<{ parts: number }>(store.client, parts);
  return { facts: facts.sort(), partitions: found?.parts ?? 0 };
}
