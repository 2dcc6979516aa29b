/**
 * Benchmark of the chargeback list: the second page by number and by cursor, one nine tenths deep, with and without a
 * filter, and many by cursor. The service caches responses, so each page is requested once.
 */
import { readRows } from "../src/clickhouse/statement.js";
import { addDays } from "../src/common/days.js";
import { commonIdentity } from "./aggregate.js";
import type { Benchmark } from "./benchmark.js";
import { countRows } from "./dataset.js";
import { fetchJson, readAll } from "./http-client.js";
import { type Figure, median, medianMs } from "./measure.js";
import { allDays } from "./organisation.js";

const PAGE_SIZE = 100;
const WALKED = 20;

interface Case {
  readonly name: string;
  readonly filter: Readonly<Record<string, string>>;
  /** Number of the page before it. */
  readonly behind: number;
  readonly by: "number" | "cursor";
  /** Target in milliseconds. */
  readonly most?: number;
}

export const benchList: Benchmark = async ({ store, repeat, rows, service }) => {
  const { url } = await service();
  const identity_id = await commonIdentity(store.client);
  const filtered = await countRows(store.client, `chargebacks WHERE identity_id = '${identity_id}'`);
  const pathOf = (params: Readonly<Record<string, string | number>>) => {
    const query = Object.entries({ end_date: allDays.at(-1) ?? "", page_size: PAGE_SIZE, ...params });
    const text = new URLSearchParams(query.map(([name, value]): [string, string] => [name, String(value)]));
    return `${url}/api/v1/tenants/${store.tenantName}/chargebacks?${text}`;
  };
  /**
   * Returns the milliseconds of the next page, by number or by cursor. Each request starts on an earlier day without
   * rows, so the rows are the same and no cache applies.
   */
  const measure = async ({ filter, behind, by }: Case) => {
    const durations: number[] = [];
    for (let turn = 0; turn <= repeat; turn++) {
      const params = { ...filter, start_date: addDays(allDays[0] ?? "", -turn) };
      // Counts the rows, as for a client that reads page by page.
      const { body } = await fetchJson<{ next_cursor: string }>(pathOf({ ...params, page: behind }));
      const next = by === "cursor" ? { cursor: body.next_cursor } : { page: behind + 1 };
      durations.push((await fetchJson(pathOf({ ...params, ...next }))).ms);
    }
    return median(durations.slice(1));
  };
  /** Milliseconds per page from the second page on. Pages that were prefetched take no time. */
  const walked = async () => {
    const durations: number[] = [];
    for (let turn = 0; turn <= repeat; turn++) {
      const start_date = addDays(allDays[0] ?? "", -turn - 1000);
      let { body } = await fetchJson<{ next_cursor: string }>(pathOf({ start_date }));
      const began = performance.now();
      for (let page = 0; page < WALKED; page++)
        ({ body } = await fetchJson<{ next_cursor: string }>(
          pathOf({ start_date, cursor: body.next_cursor }),
        ));
      durations.push((performance.now() - began) / WALKED);
    }
    return median(durations.slice(1));
  };
  const one = { identity_id };
  const cases: Case[] = [
    { name: "page by number", filter: {}, behind: 1, by: "number", most: 25 },
    { name: "page by cursor", filter: {}, behind: 1, by: "cursor", most: 15 },
    { name: "page at 90 %", filter: {}, behind: deep(rows), by: "number" },
    { name: "page of one identity by number", filter: one, behind: 1, by: "number", most: 30 },
    { name: "page of one identity by cursor", filter: one, behind: 1, by: "cursor", most: 30 },
    { name: "page of one identity at 90 %", filter: one, behind: deep(filtered) - 1, by: "number" },
  ];
  const figures: Figure[] = [];
  for (const each of cases)
    figures.push({
      benchmark: "list",
      name: each.name,
      unit: "ms",
      value: await measure(each),
      ...(each.most !== undefined && { target: { at: "most", value: each.most } }),
    });
  figures.push({
    benchmark: "list",
    name: `each of ${WALKED} pages by cursor, one after another`,
    unit: "ms",
    value: await walked(),
    target: { at: "most", value: 15 },
  });
  const again = () => readAll(pathOf({ start_date: allDays[0] ?? "" }));
  return [
    ...figures,
    { benchmark: "list", name: "page that is kept", value: await medianMs(repeat, again), unit: "ms" },
    {
      benchmark: "list",
      name: "SELECT 1",
      unit: "ms",
      value: await medianMs(repeat, () => readRows(store.client, { query: "SELECT 1", params: {} })),
    },
  ];
};

function deep(rows: number): number {
  return Math.max(1, Math.floor((rows * 0.9) / PAGE_SIZE));
}
