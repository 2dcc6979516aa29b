/** Pages of the chargeback list: the first, and one nine tenths deep, with and without a filter. */
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
  const cases = [
    { name: "page 1", page: 1, filter: {} },
    { name: "page at 90 %", page: deep(rows), filter: {} },
    { name: "page 1 of one identity", page: 1, filter: { identity_id } },
    { name: "page at 90 % of one identity", page: deep(filtered), filter: { identity_id } },
  ];
  const figures: Figure[] = [];
  for (const { name, page, filter } of cases) {
    const query = new URLSearchParams({
      start_date: allDays[0] ?? "",
      end_date: allDays.at(-1) ?? "",
      page: String(page),
      page_size: String(PAGE_SIZE),
      ...filter,
    });
    const path = `${url}/api/v1/tenants/${store.tenantName}/chargebacks?${query.toString()}`;
    figures.push({
      benchmark: "list",
      name,
      value: await medianMs(repeat, () => readAll(path)),
      unit: "ms",
      note: `page ${page.toLocaleString("en")}`,
    });
  }
  return figures;
};

function deep(rows: number): number {
  return Math.max(1, Math.floor((rows * 0.9) / PAGE_SIZE));
}
