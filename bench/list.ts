/** Pages of the chargeback list: the first, the one behind it by cursor, and one nine tenths deep, with and without a filter. */
import { readRows } from "../src/store/clickhouse/statement.js";
import { commonIdentity } from "./aggregate.js";
import type { Benchmark } from "./benchmark.js";
import { count } from "./dataset.js";
import { readAll } from "./http-client.js";
import { type Figure, medianMs } from "./measure.js";
import { allDays } from "./organisation.js";

const PAGE_SIZE = 100;

export const benchList: Benchmark = async ({ store, repeat, rows, service }) => {
  const { url } = await service();
  const identity_id = await commonIdentity(store.client);
  const filtered = await count(store.client, `chargebacks WHERE identity_id = '${identity_id}'`);
  const pathOf = (page: number, filter: Readonly<Record<string, string>>) => {
    const query = new URLSearchParams({
      start_date: allDays[0] ?? "",
      end_date: allDays.at(-1) ?? "",
      page: String(page),
      page_size: String(PAGE_SIZE),
      ...filter,
    });
    return `${url}/api/v1/tenants/${store.tenantName}/chargebacks?${query.toString()}`;
  };
  const behindFirst = async (filter: Readonly<Record<string, string>>) => {
    const { next_cursor } = (await (await fetch(pathOf(1, filter))).json()) as { next_cursor: string };
    return `${pathOf(1, filter)}&cursor=${next_cursor}`;
  };
  const cases = [
    { name: "page 1", path: pathOf(1, {}), most: 25 },
    { name: "page 2 by cursor", path: await behindFirst({}), most: 15 },
    { name: "page at 90 %", path: pathOf(deep(rows), {}) },
    { name: "page 1 of one identity", path: pathOf(1, { identity_id }), most: 30 },
    { name: "page 2 of one identity by cursor", path: await behindFirst({ identity_id }), most: 30 },
    { name: "page at 90 % of one identity", path: pathOf(deep(filtered), { identity_id }) },
  ];
  const figures: Figure[] = [];
  for (const { name, path, most } of cases)
    figures.push({
      ...{ benchmark: "list", name, unit: "ms", value: await medianMs(repeat, () => readAll(path)) },
      ...(most !== undefined && { target: { at: "most", value: most } }),
    });
  const alone = await medianMs(repeat, () => readRows(store.client, { query: "SELECT 1", params: {} }));
  return [...figures, { benchmark: "list", name: "SELECT 1", value: alone, unit: "ms" }];
};

function deep(rows: number): number {
  return Math.max(1, Math.floor((rows * 0.9) / PAGE_SIZE));
}
