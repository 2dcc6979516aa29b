/** Backups of stores that are in use, and what is restored from them. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { openBackupControl } from "../../src/backup/control.js";
import { restoreBackup } from "../../src/backup/restore-backup.js";
import { takeBackup } from "../../src/backup/take-backup.js";
import { backup } from "../../src/cli/backup.js";
import { printReconciliation } from "../../src/cli/reconcile.js";
import { restore } from "../../src/cli/restore.js";
import { projectRoot } from "../../src/common/project.js";
import { postgresMigrationStatus } from "../../src/postgres/migrate.js";
import { checkFacts } from "../../src/stores/facts/check-facts.js";
import { clickHouseMigrationStatus } from "../../src/stores/migrate-clickhouse.js";
import { migrationFolders, type OpenedStores, openStores } from "../../src/stores/open-stores.js";
import { beginRestore } from "../../src/stores/unfinished-restore.js";
import { addTag } from "../../src/tags/write.js";
import { commandIo } from "../cli/command-io.js";
import { freePort } from "../free-port.js";
import {
  daysBefore,
  reconciled,
  runContext,
  runOnce,
  runRows,
  shortTenants,
  tenantOf,
} from "../runner/runs.js";
import { scriptedUpstream } from "../runner/scripted-upstream.js";
import { temporaryFolder, testConfig, testLogger } from "../stores.js";
import { mirrored, tag, writtenTags } from "../tags/tagging.js";
import { until } from "../until.js";

const signal = new AbortController().signal;
const keepFrom = { chargebacks: "2000-01-01", topic_attributions: "2000-01-01" };

/** A configuration as a file, whose data directory need not exist. */
function configured(folder: string, data: string, tenants = shortTenants(["acme", "globex"])) {
  const yaml = `data_dir: ${folder}/${data}\nlogging: { level: fatal }\n${tenants}`;
  const file = join(folder, `${data}.yaml`);
  writeFileSync(file, yaml);
  return { file, config: testConfig(yaml, folder) };
}

async function command(which: typeof backup, ...args: readonly string[]) {
  const { io, written } = commandIo();
  const code = await which.run(args, io);
  return { code, ...written };
}

/** What people see of a tenant. */
async function seen(stores: OpenedStores, tenant: string) {
  const { io, written: printed } = commandIo();
  const proof = await printReconciliation(stores, [tenant], io, { everyDay: true });
  const rows = async (query: string) => await runRows(stores, tenant, query);
  return {
    proof,
    printed: printed.stdout,
    chargebacks: await rows("SELECT * FROM chargebacks ORDER BY ALL"),
    lines: await rows("SELECT * FROM billing_line_items ORDER BY ALL"),
    tags: await writtenTags(stores, tenant),
    identities: (
      await stores.postgres.query("SELECT * FROM identities WHERE tenant_name = $1 ORDER BY identity_id", [
        tenant,
      ])
    ).rows,
  };
}

t.test("stores that are in use can be backed up and restored", async (t) => {
  const folder = temporaryFolder(t);
  const [changing, still] = [daysBefore(3), daysBefore(2)];
  const { upstream, ecosystems } = scriptedUpstream();
  for (const day of [changing, still]) upstream.bill.set(day, { "metered-1": "8", "r-1": "5" });
  const sqlPort = `embedded: { sql_port: ${await freePort()}, sql_user: bi, sql_password: "a password of the test" }\n`;
  const live = configured(folder, "live", sqlPort + shortTenants(["acme", "globex"]));
  const stores = await openStores({ config: live.config, logger: testLogger });
  t.teardown(() => stores.close());
  const { postgres } = stores;
  const context = runContext(stores, { ecosystems });
  for (const name of ["acme", "globex"])
    t.equal((await runOnce(context, live.config, name)).status, "completed");
  for (const tenantName of ["acme", "globex"]) {
    const [{ id } = { id: "" }] = await runRows<{ id: string }>(
      stores,
      tenantName,
      "SELECT min(dimension_id) AS id FROM dimensions",
    );
    await addTag(
      { postgres, tenantName, dimensionId: Number(id) },
      tag("team", `Größe \\\\n "${tenantName}"`),
    );
  }
  // As a run leaves it that dies while it gathers, and before it, one that died while it published.
  const globexDay = "UPDATE tracking_dates SET staged_hash = 'half a day'";
  await postgres.query(
    `${globexDay}, publishing_hash = NULL WHERE tenant_name = 'globex' AND tracking_date = $1`,
    [still],
  );
  await postgres.query(`INSERT INTO runs (run_id, tenant_name, trigger, epoch, status)
    VALUES (gen_random_uuid(), 'globex', 'cli', 1, 'running')`);
  await postgres.query(`INSERT INTO sessions (secret_hash, issuer, name, roles)
    VALUES (sha256('a'), 'https://login.example.org', 'ada', '{}')`);
  const expected = { globex: await seen(stores, "globex") };
  const control = await openBackupControl({ stores, dataDir: live.config.data_dir, logger: testLogger });
  const target = join(folder, "backups", "first");

  await t.test("a backup to a target that cannot be used is refused", async (t) => {
    const send = (path: string) => command(backup, path, "--config", live.file);
    await t.rejects(send(target), {
      message: `${folder}/backups does not exist: make it, or mount it, first.`,
    });
    mkdirSync(join(folder, "backups"));
    await t.rejects(send(folder), { message: `${folder} exists already: choose a name that is free.` });
    await t.rejects(send(join(folder, "live", "b")), { message: /live\/b is in the data directory: choose/ });
    const server = configured(
      folder,
      "server",
      shortTenants(["acme"]).replace("embedded:acme", "clickhouse://h/acme"),
    );
    await t.rejects(command(backup, target, "--config", server.file), {
      message: /^This command is for embedded stores, and these are on servers: tenant acme\./,
    });
    const none = configured(folder, "none");
    await t.rejects(command(backup, target, "--config", none.file), { message: /none has no stores/ });
    t.equal(existsSync(join(folder, "none")), false);
    await t.rejects(command(backup, "--config", live.file), { message: "one FOLDER is required" });
  });

  await t.test("the service writes a backup while runs publish", async (t) => {
    let backingUp = true;
    const taken = command(backup, target, "--config", live.file).finally(() => {
      backingUp = false;
    });
    const statuses: string[] = [];
    for (let amount = 10; backingUp; amount++) {
      upstream.bill.set(changing, { "metered-1": String(amount) });
      statuses.push((await runOnce(context, live.config, "acme")).status);
    }
    const { code, stdout } = await taken;
    t.equal(code, 0);
    t.match(
      stdout,
      /^Backed up Postgres and 2 databases to .*first: \d+ files, \d+\.\d MiB, in \d+\.\d s\. Runs waited/,
    );
    t.strictSame([...new Set(statuses)], ["completed"]);
    t.strictSame(readdirSync(join(folder, "backups")), ["first"]);
    t.equal(statSync(target).mode & 0o777, 0o700);
    t.equal(statSync(join(folder, "live", "control")).mode & 0o777, 0o700);
    t.equal(statSync(join(folder, "live", "control", "control.sock")).mode & 0o777, 0o600);
  });

  await t.test("a backup is restored into an empty data directory, and runs continue from it", async (t) => {
    const other = configured(folder, "restored");
    const { code, stdout } = await command(restore, target, "--config", other.file);
    t.equal(code, 0);
    t.match(stdout, /^Restored the backup of 20.*Z to .*restored; databases: acme, globex\.\n$/);
    await t.rejects(command(restore, target, "--config", other.file), {
      message: /restored is not empty: restore into an empty one/,
    });
    const restored = await openStores({ config: other.config, logger: testLogger });
    try {
      t.strictSame(await seen(restored, "globex"), expected.globex);
      const { client } = await restored.tenant("acme");
      const facts = await checkFacts({ client, postgres: restored.postgres, tenantName: "acme", keepFrom });
      t.strictSame([facts.differing, facts.agreeing.length], [[], 2], "both stores have the same state");
      t.strictSame((await reconciled(restored, "acme")).off, []);
      t.strictSame(await writtenTags(restored, "acme"), await writtenTags(stores, "acme"));
      const { rows } = await restored.postgres.query(
        "SELECT tenant_name, staged_hash FROM tracking_dates WHERE staged_hash IS NOT NULL",
      );
      t.strictSame(rows, [], "an incomplete day does not count");
      const sessions = await restored.postgres.query("SELECT * FROM sessions");
      t.strictSame(sessions.rows, [], "a restore ends all sessions");
      const again = runContext(restored, { ecosystems });
      for (const name of ["acme", "globex"]) {
        const result = await runOnce(again, other.config, name);
        t.strictSame([result.status, result.errors, result.notes], ["completed", [], []]);
        t.strictSame((await reconciled(restored, name)).off, []);
        t.strictSame(await mirrored(restored, name), await writtenTags(restored, name));
      }
      const [{ id } = { id: "" }] = await runRows<{ id: string }>(
        restored,
        "acme",
        "SELECT max(dimension_id) AS id FROM dimensions",
      );
      const added = await addTag(
        { postgres: restored.postgres, tenantName: "acme", dimensionId: Number(id) },
        tag("new", "x"),
      );
      t.equal(added.tag_id, 3, "ids continue from the backup");
    } finally {
      await restored.close();
    }
  });

  await t.test("a backup is not restored if any part of it has changed", async (t) => {
    const { config } = configured(folder, "untouched");
    const damaged = async (t: Test, what: RegExp, damage: (copy: string) => void) => {
      const copy = join(folder, "copy");
      cpSync(target, copy, { recursive: true });
      damage(copy);
      await t.rejects(restoreBackup({ config, folder: copy, logger: testLogger, signal }), { message: what });
      t.equal(existsSync(config.data_dir), false, "the restore did not begin");
      rmSync(copy, { recursive: true });
    };
    const tags = (copy: string) => join(copy, "postgres", "tags.copy");
    const rewrite = (
      copy: string,
      change: (manifest: {
        format: number;
        postgres: { revisions: object[] };
        clickhouse: { revisions: object[] }[];
      }) => void,
    ) => {
      const file = join(copy, "manifest.json");
      const manifest = JSON.parse(readFileSync(file, "utf8"));
      change(manifest);
      const text = JSON.stringify(manifest);
      writeFileSync(file, text);
      writeFileSync(
        join(copy, "manifest.sha256"),
        `${createHash("sha256").update(text).digest("hex")}  manifest.json\n`,
      );
    };
    const future = {
      revision: "9999",
      name: "from_the_future",
      checksum: "",
      applied_at: "2030-01-01T00:00:00Z",
    };
    await damaged(t, /the content of postgres\/tags\.copy has changed/, (copy) => {
      const bytes = readFileSync(tags(copy));
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      writeFileSync(tags(copy), bytes);
    });
    await damaged(t, /tags\.copy has \d+ bytes instead of \d+/, (copy) =>
      writeFileSync(tags(copy), "more", { flag: "a" }),
    );
    await damaged(t, /postgres\/tags\.copy is missing/, (copy) => rmSync(tags(copy)));
    await damaged(t, /does not list clickhouse\/acme\/new/, (copy) =>
      writeFileSync(join(copy, "clickhouse", "acme", "new"), ""),
    );
    await damaged(t, /tags\.copy is neither a file nor a folder/, (copy) => {
      rmSync(tags(copy));
      symlinkSync(join(target, "postgres", "tags.copy"), tags(copy));
    });
    await damaged(t, /manifest\.json does not have the checksum/, (copy) =>
      writeFileSync(join(copy, "manifest.json"), "{}"),
    );
    await damaged(t, /is not a complete backup: it has no manifest\.sha256/, (copy) =>
      rmSync(join(copy, "manifest.sha256")),
    );
    await damaged(t, /its format is 2, and this version reads 1/, (copy) =>
      rewrite(copy, (manifest) => {
        manifest.format = 2;
      }),
    );
    await damaged(t, /does not describe a backup/, (copy) =>
      rewrite(copy, (manifest) => {
        manifest.postgres = { revisions: [] };
      }),
    );
    await damaged(t, /^postgres: the schema is newer than this version of chargehouse/, (copy) =>
      rewrite(copy, (manifest) => manifest.postgres.revisions.push(future)),
    );
    await damaged(t, /^clickhouse\/globex: the schema is newer than this version/, (copy) =>
      rewrite(copy, (manifest) => manifest.clickhouse[1]?.revisions.push(future)),
    );
  });

  await control?.close();
  await t.test("a backup needs a service that listens, or exclusive use of the data directory", async (t) => {
    await t.rejects(command(backup, join(folder, "backups", "second"), "--config", live.file), {
      message: new RegExp(`live is in use by process ${process.pid}, which takes no backups`),
    });
    await stores.close();
    const child = spawn(
      process.execPath,
      [
        "--import=tsx",
        join(projectRoot(), "src", "main.ts"),
        "backup",
        join(folder, "backups", "killed"),
        "--config",
        live.file,
      ],
      { stdio: "inherit", env: { ...process.env, NODE_OPTIONS: "" } },
    );
    const partial = () =>
      readdirSync(join(folder, "backups")).find((name) => name.startsWith("killed.partial-")) ?? "";
    await until(
      "it copies",
      () => existsSync(join(folder, "backups", partial(), "clickhouse")) && partial() !== "",
    );
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    const { config } = configured(folder, "untouched");
    await t.rejects(
      restoreBackup({ config, folder: join(folder, "backups", partial()), logger: testLogger, signal }),
      { message: /is not a complete backup: it has no manifest\.json/ },
    );
    t.equal(existsSync(join(folder, "backups", "killed")), false);
    t.equal((await command(backup, join(folder, "backups", "second"), "--config", live.file)).code, 0);
    t.equal(existsSync(join(folder, "backups", "second", "manifest.json")), true);
  });
});

t.test("a backup of an older version is migrated", async (t) => {
  const folder = temporaryFolder(t);
  const { config } = configured(folder, "live", shortTenants(["acme"]));
  const stores = await openStores({ config, logger: testLogger });
  t.teardown(() => stores.close());
  await stores.postgres.query(
    "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'old', 'generic_metrics_only')",
  );
  await stores.tenant("acme");
  const target = join(folder, "backup");
  const { databases } = await takeBackup({ stores, dataDir: config.data_dir, target, signal });
  t.equal(databases, 1);
  await stores.close();

  const migrations = { postgres: join(folder, "postgres"), clickhouse: join(folder, "clickhouse") };
  const added = {
    postgres: "ALTER TABLE tenants ADD COLUMN later text NOT NULL DEFAULT 'added';",
    clickhouse: "ALTER TABLE billing ADD COLUMN IF NOT EXISTS later String;",
  };
  for (const store of ["postgres", "clickhouse"] as const) {
    cpSync(migrationFolders[store], migrations[store], { recursive: true });
    writeFileSync(join(migrations[store], "9999_later.sql"), added[store]);
  }
  const { config: next } = configured(folder, "restored", shortTenants(["acme"]));
  await restoreBackup({ config: next, folder: target, logger: testLogger, signal, migrations });
  const restored = await openStores({ config: next, logger: testLogger, skipMigrations: true });
  t.teardown(() => restored.close());
  const states = [
    ...(await postgresMigrationStatus(restored.postgres, migrations.postgres)),
    ...(await clickHouseMigrationStatus(await restored.serverClient("acme"), {
      dir: migrations.clickhouse,
      database: "acme",
    })),
  ];
  t.strictSame(
    states.map(({ revision, state }) => `${revision} ${state}`),
    [
      "0001 applied",
      "0003 applied",
      "0004 applied",
      "0005 applied",
      "0006 applied",
      "0007 applied",
      "0008 applied",
      "9999 applied",
      "0001 applied",
      "0002 applied",
      "0003 applied",
      "0004 applied",
      "0005 applied",
      "9999 applied",
    ],
  );
  t.strictSame((await restored.postgres.query("SELECT tenant_id, later FROM tenants")).rows, [
    { tenant_id: "old", later: "added" },
  ]);
  t.equal(tenantOf(next, "acme").tenant_name, "acme");
  await restored.close();
});

t.test("a data directory whose restore was killed is not opened", async (t) => {
  const folder = temporaryFolder(t);
  const { config } = configured(folder, "half", shortTenants(["acme"]));
  mkdirSync(config.data_dir);
  await beginRestore(config.data_dir);
  await t.rejects(openStores({ config, logger: testLogger }), {
    message: /half holds a restore that was cut off: delete what is in it/,
  });
  t.strictSame(readdirSync(config.data_dir), ["restore.unfinished"], "the restore is refused again");
  await t.rejects(beginRestore(config.data_dir), { code: "EEXIST" });
});
