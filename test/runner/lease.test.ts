import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { LeaseLostError } from "../../src/common/lease-lost.js";
import { runStatement } from "../../src/postgres/statement.js";
import { acquireLease } from "../../src/runner/lease.js";
import { prolongLease } from "../../src/runner/sql/leases.js";
import { registerTenant } from "../../src/runner/sql/tenants.js";
import { openTestStores } from "../stores.js";
import { until } from "../until.js";
import { childProcess } from "./child.js";

const short = { leaseSeconds: 2, heartbeatSeconds: 0.2 };

t.test("a tenant has at most one lease holder", async (t) => {
  const { stores } = await openTestStores(t);
  const { postgres } = stores;
  let made = 0;
  const newTenant = async () => {
    made += 1;
    const tenantName = `tenant-${made}`;
    await runStatement(postgres, registerTenant({ tenantName, tenantId: tenantName, ecosystem: "test" }));
    return tenantName;
  };
  const secondsLeft = async (tenantName: string) => {
    const found = await postgres.query(
      "SELECT extract(epoch FROM expires_at - now())::float8 AS s FROM leases WHERE tenant_name = $1",
      [tenantName],
    );
    return Number(found.rows[0]?.s);
  };

  await t.test("a lease has one holder at a time, and its epoch grows", async (t) => {
    const tenant = await newTenant();
    const first = await acquireLease(postgres, tenant, "a");
    t.equal(first?.epoch, 1);
    t.equal(await acquireLease(postgres, tenant, "b"), undefined);
    await first?.release();
    const second = await acquireLease(postgres, tenant, "b");
    t.equal(second?.epoch, 2, "the epoch does not start over");
    await second?.release();
    t.equal(first?.lost.aborted, false, "given back is not lost");
  });

  await t.test("exactly one of many simultaneous requests gets the lease", async (t) => {
    const tenant = await newTenant();
    const leases = await Promise.all(
      Array.from({ length: 12 }, (_, i) => acquireLease(postgres, tenant, `h${i}`)),
    );
    t.equal(leases.filter((lease) => lease !== undefined).length, 1);
    await Promise.all(leases.map((lease) => lease?.release()));
  });

  await t.test("a heartbeat prolongs the lease", async (t) => {
    const tenant = await newTenant();
    const lease = await acquireLease(postgres, tenant, "a", short);
    const { rows } = await postgres.query("SELECT expires_at AS end FROM leases WHERE tenant_name = $1", [
      tenant,
    ]);
    await until("the first life of the lease is over", async () => {
      const { rows: over } = await postgres.query("SELECT WHERE now() > $1::timestamptz", [rows[0]?.end]);
      return over.length === 1;
    });
    t.equal(lease?.lost.aborted, false);
    t.ok((await secondsLeft(tenant)) > 0, "still in the future by the database's clock");
    t.equal(await acquireLease(postgres, tenant, "b"), undefined);
    await lease?.release();
  });

  await t.test("a lease that another worker has taken is lost, with the reason", async (t) => {
    const tenant = await newTenant();
    const lease = await acquireLease(postgres, tenant, "a", short);
    await postgres.query("UPDATE leases SET expires_at = now() WHERE tenant_name = $1", [tenant]);
    const other = await acquireLease(postgres, tenant, "b", { leaseSeconds: 30, heartbeatSeconds: 10 });
    await until("the heartbeat notices", () => lease?.lost.aborted === true);
    t.strictSame(
      lease?.lost.reason,
      new LeaseLostError(1, "another worker has taken the tenant over, or it had run out"),
    );
    await lease?.release();
    t.ok((await secondsLeft(tenant)) > 20, "what the old holder gives back is not the new holder's");
    await other?.release();
  });

  await t.test("an expired lease is not prolonged, even if it is free", async (t) => {
    const tenant = await newTenant();
    const lease = await acquireLease(postgres, tenant, "a", { leaseSeconds: 600, heartbeatSeconds: 300 });
    const prolong = async () =>
      (await runStatement(postgres, prolongLease({ tenantName: tenant, epoch: 1, seconds: 600 }))).rowCount;
    t.equal(await prolong(), 1);
    await postgres.query("UPDATE leases SET expires_at = now() WHERE tenant_name = $1", [tenant]);
    t.equal(await prolong(), 0);
    t.ok((await secondsLeft(tenant)) <= 0);
    await lease?.release();
  });

  await t.test(
    "a lease is lost if Postgres is unreachable for its lifetime, even after it was prolonged",
    async (t) => {
      const tenant = await newTenant();
      const lease = await acquireLease(postgres, tenant, "a", short);
      const endOf = async () =>
        String(
          (await postgres.query("SELECT expires_at::text AS s FROM leases WHERE tenant_name = $1", [tenant]))
            .rows[0]?.s,
        );
      const first = await endOf();
      await until("a heartbeat prolongs it", async () => (await endOf()) !== first);
      const lock = await postgres.connect();
      await lock.query("BEGIN");
      await lock.query("LOCK TABLE leases IN ACCESS EXCLUSIVE MODE");
      await until("the lease runs out", () => lease?.lost.aborted === true);
      t.strictSame(
        lease?.lost.reason,
        new LeaseLostError(1, "it ran out, because Postgres was not reached in time"),
      );
      await lock.query("ROLLBACK");
      lock.release();
      await lease?.release();
    },
  );

  await t.test("a lease excludes other processes, and the lease of a killed process expires", async (t) => {
    const tenant = await newTenant();
    const { host, port, user, password, database } = postgres.options;
    const child = childProcess(t, "./lease-holder.js", {
      postgres: { host, port, user, password, database },
      tenantName: tenant,
      timing: { leaseSeconds: 3, heartbeatSeconds: 0.3 },
    });
    t.equal(await child.message(), "holding epoch 1");
    t.equal(await acquireLease(postgres, tenant, "b"), undefined);
    child.kill("SIGKILL");
    await child.exited;
    let lease: Awaited<ReturnType<typeof acquireLease>>;
    await until("the dead one's lease runs out", async () => {
      lease = await acquireLease(postgres, tenant, "b");
      return lease !== undefined;
    });
    t.equal(lease?.epoch, 2);
    await lease?.release();
  });
});

t.test("a lease that could not be released is released when Postgres is back", async (t) => {
  const { stores, folder } = await openTestStores(t);
  const { postgres } = stores;
  const tenantName = "acme";
  await runStatement(postgres, registerTenant({ tenantName, tenantId: tenantName, ecosystem: "test" }));
  const lease = await acquireLease(postgres, tenantName, "a", { leaseSeconds: 600, heartbeatSeconds: 300 });
  const file = readFileSync(join(folder, "data/postgres/postmaster.pid"), "utf8");
  process.kill(Number(file.split("\n")[0]), "SIGKILL");
  await until("Postgres is away", async () => {
    const response: unknown = await postgres.query("SELECT 1").catch((error: unknown) => error);
    return response instanceof Error;
  });
  await t.rejects(async () => await lease?.release(), /ECONNREFUSED|ENOENT/);
  let next: Awaited<ReturnType<typeof acquireLease>>;
  await until("another gets the lease", async () => {
    next = await acquireLease(postgres, tenantName, "b").catch(() => undefined);
    return next !== undefined;
  });
  t.equal(next?.epoch, 2, "long before 600 seconds are over");
  await next?.release();
});
