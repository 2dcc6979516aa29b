import t from "tap";
import { MIGRATED_CLICKHOUSE } from "../migrated-clickhouse.js";
import { shortTenants } from "../runner/runs.js";
import { openTestStores } from "../stores.js";

t.test("migrating many new tenants at once leaves Postgres connections for others", async (t) => {
  const names = Array.from({ length: 6 }, (_, index) => `tenant_${index}`);
  // The tenants have to be new, because a copy of a migrated database has nothing to migrate.
  delete process.env[MIGRATED_CLICKHOUSE];
  const { stores } = await openTestStores(t, shortTenants(names));
  const { postgres } = stores;
  const taken: number[] = [];
  postgres.on("acquire", () => taken.push(postgres.totalCount - postgres.idleCount));
  const opened = await Promise.all(names.map(async (name) => (await stores.tenant(name)).database));
  t.strictSame(opened, names);
  t.equal(taken.length >= names.length, true, "each tenant uses a connection while it is migrated");
  t.equal(Math.max(...taken) <= 4, true, `${Math.max(...taken)} connections at once`);
});
