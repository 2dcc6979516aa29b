import t from "tap";
import { addDays } from "../../src/common/days.js";
import { factTables } from "../../src/domain/fact-tables.js";
import { sumTables } from "../../src/domain/sum-tables.js";
import { holds } from "../holds.js";
import { openTestStores } from "../stores.js";
import {
  daysBefore,
  reconciled,
  runContext,
  runDay,
  runOnce,
  runRows,
  shortTenants,
  trackingDate,
} from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

t.test("data older than the retention is dropped in whole days", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"], ["retention_days: 8"]));
  const { postgres } = stores;
  const { upstream, ecosystems } = scriptedUpstream();
  for (let age = 2; age <= 8; age += 1) upstream.bill.set(daysBefore(age), { "metered-1": "8" });
  upstream.gaps.add(daysBefore(7));
  const run = async (now: string) =>
    await runOnce(
      runContext(stores, { ecosystems, now: () => new Date(`${now}T12:00:00Z`) }),
      config,
      "acme",
    );
  for (let attempt = 1; attempt <= 3; attempt += 1) await run(runDay);
  holds(t, await reconciled(stores, "acme"), { days: 7, off: [] }, "a day at the boundary is kept");
  const old = `'${daysBefore(8)}T12:00:00Z'`;
  const fresh = `'${daysBefore(5)}T12:00:00Z'`;
  await postgres.query(`INSERT INTO identities (tenant_name, identity_id, ecosystem, tenant_id, identity_type, deleted_at, last_seen_at)
    VALUES ('acme', 'gone-long', 'e', 'acme', 'x', ${old}, ${old}), ('acme', 'gone-now', 'e', 'acme', 'x', ${fresh}, ${fresh})`);
  await postgres.query(`INSERT INTO resources (tenant_name, resource_id, ecosystem, tenant_id, resource_type, status, deleted_at, last_seen_at)
    VALUES ('acme', 'gone-long', 'e', 'acme', 'x', 'deleted', ${old}, ${old}), ('acme', 'gone-now', 'e', 'acme', 'x', 'deleted', ${fresh}, ${fresh})`);
  await postgres.query(`INSERT INTO runs (run_id, tenant_name, trigger, status, started_at, ended_at)
    VALUES (gen_random_uuid(), 'acme', 'cli', 'completed', ${old}, ${old})`);

  // Two days later the two oldest days are too old; they are also no longer in the window.
  const later = addDays(runDay, 2);
  holds(t, await run(later), { status: "completed" });
  holds(t, await reconciled(stores, "acme"), { days: 5, off: [], staged: 0 });
  const tables = [...factTables, ...sumTables];
  const counts = await runRows<{ name: string; n: string }>(
    stores,
    "acme",
    tables
      .map(
        (table) =>
          `SELECT '${table}' AS name, toString(count()) AS n FROM ${table} WHERE day <= '${daysBefore(7)}'`,
      )
      .join(" UNION ALL "),
  );
  t.same(
    counts.map((row) => row.n),
    tables.map(() => "0"),
    "in every table",
  );
  for (const age of [8, 7])
    t.equal(await trackingDate(stores, "acme", daysBefore(age)), undefined, "with its state");
  holds(t, await trackingDate(stores, "acme", daysBefore(6)), { chargeback_calculated: true });
  for (const table of ["identities", "resources"]) {
    const id = table === "identities" ? "identity_id" : "resource_id";
    const left = await postgres.query(`SELECT ${id} AS id FROM ${table} WHERE ${id} LIKE 'gone%'`);
    t.same(left.rows, [{ id: "gone-now" }], `${table} that were deleted before`);
  }
  const runs = await postgres.query("SELECT FROM runs WHERE ended_at < $1", [daysBefore(6)]);
  t.equal(runs.rowCount, 0, "records of runs");
});
