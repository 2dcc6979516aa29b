/**
 * Benchmark of the CSV export over HTTP, compared with the engine writing the same rows to nowhere, and its memory on
 * both sides of the service's socket.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readSettings } from "../src/clickhouse/statement.js";
import { defaultExportColumns } from "../src/export/columns.js";
import { chargebackExport } from "../src/export/statement.js";
import { chargebackDays } from "../src/query/chargebacks/scan.js";
import { csvOutputSettings } from "../src/query/csv-cell.js";
import { readDayCounts } from "../src/query/page/position.js";
import { dateWindow } from "../src/query/time/date-window.js";
import type { Benchmark } from "./benchmark.js";
import { drain, readAll } from "./http-client.js";
import { type Figure, median, once, watchProcess } from "./measure.js";
import { allDays } from "./organisation.js";

const start_date = allDays[0] ?? "";
const end_date = allDays.at(-1) ?? "";

export const benchExport: Benchmark = async ({ store, repeat, rows, enginePid, service }) => {
  const { url, pid } = await service();
  const endpoint = `${url}/api/v1/tenants/${store.tenantName}/export`;
  const body = { start_date, end_date };
  await readAll(endpoint, { ...body, end_date: start_date }); // a day, so that everything is loaded
  const http: number[] = [];
  const engine: number[] = [];
  const ofService: number[] = [];
  const ofEngine: number[] = [];
  let bytes = 0;
  for (let turn = 0; turn < repeat; turn++) {
    await idleEngine(store.client);
    const watched = { service: watchProcess(pid), engine: watchProcess(enginePid) };
    http.push(
      await once(async () => {
        bytes = await drain(endpoint, body);
      }),
    );
    for (const each of Object.values(watched)) each.stop();
    ofService.push(watched.service.peak() - watched.service.idle);
    ofEngine.push(watched.engine.peak() - watched.engine.idle);
    engine.push(await once(() => engineAlone(store.client)));
  }
  const figure = (name: string, value: number, unit: Figure["unit"], more: Partial<Figure> = {}): Figure => ({
    benchmark: "export",
    name,
    value,
    unit,
    ...more,
  });
  const mebibytes = bytes / 2 ** 20;
  return [
    figure("over HTTP", rows / (median(http) / 1000), "rows/s", {
      note: `${Math.round(mebibytes / (median(http) / 1000))} MiB/s`,
    }),
    figure("engine to /dev/null", rows / (median(engine) / 1000), "rows/s"),
    figure("HTTP / engine, speed", median(engine) / median(http), "ratio", {
      target: { at: "least", value: 0.7 },
    }),
    figure("service memory above idle", Math.max(...ofService), "MiB", {
      target: { at: "most", value: 150 },
    }),
    figure("engine memory above idle", Math.max(...ofEngine), "MiB", { target: { at: "most", value: 500 } }),
  ];
};

/** Frees memory of earlier statements, so that only the export's is measured. */
async function idleEngine(client: ClickHouseClient): Promise<void> {
  await client.command({ query: "SYSTEM JEMALLOC PURGE" });
}

/** Runs the statements of the export, with their settings, into a file that discards its content. */
async function engineAlone(client: ClickHouseClient): Promise<void> {
  const window = dateWindow({ start_date, end_date }, 200, new Date(`${end_date}T00:00:00Z`));
  const input = { window, filters: {}, columns: defaultExportColumns, raw: false };
  const days = await readDayCounts(client, chargebackDays(window, {}));
  const { readonly: _, ...settings } = readSettings;
  for (const { query, params } of chargebackExport(input, { tagged: false, days })) {
    await client.command({
      query: `INSERT INTO FUNCTION file('/dev/null', 'CustomSeparated') ${query.replace(/FORMAT \w+\s*$/, "")}`,
      query_params: { ...params },
      clickhouse_settings: {
        ...settings,
        ...csvOutputSettings,
        max_block_size: "65536",
        preferred_block_size_bytes: "0",
        engine_file_truncate_on_insert: 1,
      },
    });
  }
}
