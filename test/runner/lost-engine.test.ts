import type { ClickHouseClient } from "@clickhouse/client";
import t from "tap";
import { openTestStores } from "../stores.js";
import {
  chargedOn,
  daysBefore,
  reconciled,
  runContext,
  runOnce,
  shortTenants,
  trackingDate,
} from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const days = [2, 3, 4].map(daysBefore);

t.test("an engine that is killed during a calculation is restarted", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"], ["allocation_retry_limit: 1"]));
  const { upstream, ecosystems } = scriptedUpstream();
  const { client } = await stores.tenant("acme");
  const run = async (amount: string) => {
    for (const day of days) upstream.bill.set(day, { "r-1": amount });
    return await runOnce(runContext(stores, { ecosystems }), config, "acme");
  };
  /** Number of following calculations during which the engine is killed. */
  let kills = 0;
  const send = client.command.bind(client);
  const sendAndKill: ClickHouseClient["command"] = async (statement) => {
    const isCalculation = /^\s*INSERT INTO staged_chargebacks/.test(statement.query);
    if (isCalculation && kills > 0) {
      kills -= 1;
      process.kill(stores.embeddedClickHouse?.pid() ?? 0, "SIGKILL");
    }
    return await send(statement);
  };
  Object.assign(client, { command: sendAndKill });

  kills = 1;
  const first = await run("10");
  t.equal(kills, 0, "it was killed");
  t.strictSame([first.status, first.errors, first.dates_calculated], ["completed", [], 3]);
  t.strictSame(await chargedOn(stores, "acme", days[0] ?? ""), ["ann: 5", "bob: 5"]);
  for (const day of days)
    t.equal((await trackingDate(stores, "acme", day)).allocation_attempts, 0, "no attempt is counted");
  t.strictSame((await reconciled(stores, "acme")).off, []);

  await t.test("an engine that is killed twice by the same day counts an attempt of the day", async (t) => {
    const [fatal = ""] = days;
    upstream.bill.set(fatal, { "r-1": "20" });
    kills = 2;
    const result = await runOnce(runContext(stores, { ecosystems }), config, "acme");
    t.equal(kills, 0, "it was killed");
    t.match(result.errors[0]?.message, /^attempt 1 of 1: the store went away twice while it calculated/);
    t.strictSame(await chargedOn(stores, "acme", fatal), ["UNALLOCATED: 20 allocation_failed"]);
    t.strictSame((await reconciled(stores, "acme")).off, []);
  });
});
