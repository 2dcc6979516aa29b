/** Moves a tenant's facts to another database of the same engine, and to another server. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { moveTenant } from "../../src/cli/move-tenant.js";
import { createEmbeddedClickHouse } from "../../src/embedded-clickhouse/supervisor.js";
import { acquireLease } from "../../src/runner/lease.js";
import { type OpenedStores, openStores } from "../../src/stores/open-stores.js";
import { portOfSocket } from "../clickhouse/engine-under-test.js";
import { daysBefore, reconciled, runContext, runOnce, runRows, shortTenants } from "../runner/runs.js";
import { scriptedUpstream } from "../runner/scripted-upstream.js";
import { temporaryFolder, testConfig, testLogger } from "../stores.js";
import { commandIo } from "./command-io.js";

t.test("a tenant is moved", async (t) => {
  const folder = temporaryFolder(t);
  const engine = createEmbeddedClickHouse({ dataDir: join(folder, "facts"), logger: testLogger });
  t.teardown(() => engine.stop());
  const { socketPath, username, password } = await engine.endpoint();
  const server = `clickhouse://${username}:${password}@127.0.0.1:${await portOfSocket(t, socketPath)}`;
  const configured = (
    name: string,
    storage: string,
    other = "embedded:globex",
    dataDir = "live",
    more = "",
  ) => {
    const tenants = shortTenants(["acme", "globex"])
      .replace("embedded:globex", other)
      .replace("embedded:acme", storage);
    const yaml = `data_dir: ${folder}/${dataDir}\nlogging: { level: fatal }\n${more}${tenants}`;
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, yaml);
    return { file, config: testConfig(yaml, folder) };
  };
  const here = configured("here", "embedded:acme");
  const moved = configured("moved", "embedded:acme_2");
  const away = configured("away", `${server}/acme`);
  const move = async (from: string, to: string, ...more: readonly string[]) => {
    const { io, written } = commandIo();
    const code = await moveTenant.run(["acme", "--config", from, "--to-config", to, ...more], io);
    return { code, ...written };
  };

  const { upstream, ecosystems } = scriptedUpstream();
  for (const age of [2, 3, 4]) upstream.bill.set(daysBefore(age), { "metered-1": "8", "r-1": "5" });
  const within = async <Result>(
    config: typeof here.config,
    work: (stores: OpenedStores) => Promise<Result>,
  ) => {
    const stores = await openStores({ config, logger: testLogger });
    try {
      return await work(stores);
    } finally {
      await stores.close();
    }
  };
  const run = async (stores: OpenedStores, config: typeof here.config, tenant = "acme") =>
    await runOnce(runContext(stores, { ecosystems }), config, tenant);
  const state = async (stores: OpenedStores) => ({
    chargebacks: await runRows(stores, "acme", "SELECT * FROM chargebacks ORDER BY ALL"),
    lines: await runRows(stores, "acme", "SELECT * FROM billing_line_items ORDER BY ALL"),
    details: await runRows(stores, "acme", "SELECT * FROM chargeback_details ORDER BY ALL"),
    store: await runRows(stores, "acme", "SELECT * FROM store_identity"),
  });

  await t.test("a tenant without facts is not moved", async (t) => {
    await t.rejects(move(here.file, moved.file), {
      message: "No run has used the tenant's storage yet: there is nothing to move.",
    });
  });

  await t.test(
    "a tenant is not moved if the new configuration would not find the copy, or the state of its days",
    async (t) => {
      const elsewhere = configured("elsewhere", "embedded:acme_2", "embedded:globex", "elsewhere");
      const server = "postgres: { connection_string: 'postgres://u:p@127.0.0.1:9/state' }\n";
      const stateless = configured("stateless", "embedded:acme_2", "embedded:globex", "live", server);
      for (const [setting, { file }] of [
        ["data_dir", elsewhere],
        ["postgres.connection_string", stateless],
      ] as const)
        await t.rejects(move(here.file, file), {
          message: `The new configuration has another ${setting}: change nothing but the storage of tenant acme in it.`,
          exitCode: 2,
        });
    },
  );

  const before = await within(here.config, async (stores) => {
    t.equal((await run(stores, here.config)).dates_calculated, 3);
    t.equal((await run(stores, here.config, "globex")).dates_calculated, 3);
    return await state(stores);
  });
  t.equal(before.chargebacks.length, 12);

  await t.test(
    "a tenant is moved to another database, and the next run finds everything there",
    async (t) => {
      const { code, stdout } = await move(here.file, moved.file);
      t.equal(code, 0);
      t.match(
        stdout,
        /^Copied \d+ rows of tenant acme from embedded:acme to embedded:acme_2; the copy is equal\.\nNow start the service with the new configuration\. embedded:acme is unchanged: drop it when it is no longer needed\.\n$/,
      );
      await within(moved.config, async (stores) => {
        t.same(await state(stores), before);
        const again = await run(stores, moved.config);
        t.same([again.status, again.dates_calculated, again.notes], ["completed", 0, []]);
        t.same((await reconciled(stores, "acme")).off, []);
      });
    },
  );

  await t.test("a tenant is moved to a server, and an interrupted copy is completed", async (t) => {
    t.equal((await move(moved.file, away.file)).code, 0);
    await within(away.config, async (stores) => {
      const { client } = await stores.tenant("acme");
      for (const damage of [
        `ALTER TABLE chargebacks DROP PARTITION '${daysBefore(2)}'`,
        "TRUNCATE TABLE store_identity",
        `INSERT INTO billing (timestamp, resource_id, total_cost) VALUES ('${daysBefore(3)} 00:00:00', 'r-9', 1)`,
        `INSERT INTO usage (timestamp, resource_id, metric) VALUES ('${daysBefore(40)} 00:00:00', 'r-9', 'm')`,
      ])
        await client.command({ query: damage });
    });
    await t.rejects(move(moved.file, away.file), {
      message: /^clickhouse:\/\/.*\/acme is not empty\. If an earlier move was interrupted, /,
    });
    const { code, stderr } = await move(moved.file, away.file, "--resume");
    t.equal(code, 0);
    t.match(stderr, /^ {2}billing: 6 rows$/m);
    await within(away.config, async (stores) => {
      t.same(await state(stores), before);
      t.same(await runRows(stores, "acme", `SELECT 1 FROM usage WHERE day = '${daysBefore(40)}'`), []);
      t.equal((await run(stores, away.config)).dates_calculated, 0);
    });
  });

  await t.test("a tenant is not moved to a database that is in use", async (t) => {
    const taken = configured("taken", "embedded:globex", "embedded:globex_2");
    await t.rejects(move(here.file, taken.file), {
      message:
        "embedded:globex is the storage of tenant globex already: give the new configuration another connection_string for tenant acme.",
      exitCode: 2,
    });
    await t.rejects(move(here.file, here.file), {
      message: /^embedded:acme is the storage of tenant acme already/,
    });
    const alone = configured("alone", "embedded:acme", "embedded:globex_2");
    await t.rejects(move(alone.file, taken.file), {
      message: "embedded:globex already contains other facts: choose an empty database.",
      exitCode: 1,
    });
    await t.rejects(move(here.file, here.file, "--resum"), { name: "UsageError" });
  });

  await t.test("a tenant is not moved while it runs, or with an interrupted publish", async (t) => {
    const next = configured("next", "embedded:acme_3");
    await within(here.config, async ({ postgres }) => {
      await acquireLease(postgres, "acme", "another process");
    });
    await t.rejects(move(here.file, next.file), {
      message: "A run of tenant acme is in progress: wait until it ends, or stop the service.",
    });
    await within(here.config, async ({ postgres }) => {
      await postgres.query("UPDATE leases SET expires_at = now()");
      await postgres.query("UPDATE tracking_dates SET publishing_hash = 'x' WHERE tracking_date = $1", [
        daysBefore(2),
      ]);
    });
    await t.rejects(move(here.file, next.file), {
      message:
        "The last run of tenant acme was cut off while it published: run it once more, and move it then.",
    });
  });
});
