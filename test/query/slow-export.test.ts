import { once } from "node:events";
import { Readable } from "node:stream";
import t from "tap";
import { limitIdle, readerPace } from "../../src/export/reader-pace.js";
import { openExport } from "../../src/export/stream.js";
import { dateWindow } from "../../src/query/time/date-window.js";
import { startService } from "../http/service.js";
import { until } from "../until.js";

t.test("an export that is read too slowly ends only if another request waits for its slot", async (t) => {
  const { client } = await (await startService(t)).stores.tenant("acme");
  await client.command({
    query: `INSERT INTO chargebacks (timestamp, ecosystem, tenant_id, resource_id, product_category, product_type, identity_id, cost_type,
        allocation_method, allocation_detail, component_ratio, amount_hi)
      SELECT toDateTime('2026-03-01 00:00:00', 'UTC'), 'e', 'acme', 'r', 'c', 'p', concat('sa-', toString(number)), 'usage', 'usage_ratio',
        'usage_ratio_allocation', '1', 0.01 FROM numbers(100000)`,
  });
  const window = dateWindow({ start_date: "2026-03-01", end_date: "2026-03-01" }, 30, new Date());
  const columns = Array.from({ length: 20 }, () => "allocation_detail" as const);
  const begin = async (hasWaiters: boolean) => {
    const pace = readerPace({ graceMs: 0, bytesPerSecond: 1e12, hasWaiters: () => hasWaiters });
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
  t.equal(left.destroyed, false, "an export whose slot nobody waits for continues");
  left.destroy();
  await once(left, "close");
});

t.test("a stream that nobody reads is aborted, and one that is read is complete", async (t) => {
  let made = 0;
  let isEnded = false;
  async function* lines() {
    try {
      for (;;) {
        made += 1;
        yield `${made}\n`;
      }
    } finally {
      isEnded = true;
    }
  }
  const stalled = limitIdle(lines(), 50);
  const failed = once(stalled, "error");
  await once(stalled, "readable");
  stalled.read();
  const [error] = await failed;
  t.equal(error.cause?.name, "ExportIdleError");
  t.equal(error.cause?.message, "no byte of an export was read for 50 ms");
  await until("its source to be let go", () => isEnded);
  t.ok(made < 100, `${made} lines were made for nobody`);

  const few = limitIdle(Readable.from(["a", "b"]), 600_000);
  t.strictSame(await few.toArray(), ["a", "b"], "no timer is left, or this test would not end");
  const left = limitIdle(lines(), 600_000);
  await once(left, "readable");
  left.destroy();
  await once(left, "close");
});
