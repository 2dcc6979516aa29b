import { once } from "node:events";
import t from "tap";
import { openExport } from "../../src/query/export/stream.js";
import { dateWindow } from "../../src/query/time/date-window.js";
import { startService } from "../http/service.js";

t.test("an export that is read too slowly ends when its place is wanted, and only then", async (t) => {
  const { client } = await (await startService(t)).stores.tenant("acme");
  await client.command({
    query: `INSERT INTO chargebacks (timestamp, ecosystem, tenant_id, resource_id, product_category, product_type, identity_id, cost_type,
        allocation_method, allocation_detail, component_ratio, amount_hi)
      SELECT toDateTime('2026-03-01 00:00:00', 'UTC'), 'e', 'acme', 'r', 'c', 'p', concat('sa-', toString(number)), 'usage', 'usage_ratio',
        'usage_ratio_allocation', '1', 0.01 FROM numbers(100000)`,
  });
  const window = dateWindow({ start_date: "2026-03-01", end_date: "2026-03-01" }, 30, new Date());
  const columns = Array.from({ length: 20 }, () => "allocation_detail" as const);
  const begin = async (isWanted: boolean) => {
    const pace = { graceMs: 0, bytesPerSecond: 1e12, isWanted: () => isWanted };
    const options = { signal: new AbortController().signal, idleMs: 600_000, pace };
    const stream = await openExport(client, { window, filters: {}, columns, raw: false }, options);
    await once(stream, "readable");
    stream.read(1_000);
    return stream;
  };
  const left = await begin(false);
  const wanted = await begin(true);
  const [error] = await new Promise<[unknown]>((resolve) => wanted.once("error", (why) => resolve([why])));
  t.equal(error instanceof Error && error.cause instanceof Error && error.cause.name, "SlowReaderError");
  t.equal(left.destroyed, false, "the one whose place nobody wants goes on");
  left.destroy();
  await once(left, "close");
});
