import t, { type Test } from "tap";
import { clusterSettings, refuseOtherKind } from "../../../src/clickhouse/replicas/cluster.js";
import { openStores } from "../../../src/stores/open-stores.js";
import { storeInTrouble } from "../../../src/stores/store-trouble.js";
import { copyMigratedPostgres } from "../../migrated-postgres.js";
import { fixedTenant, temporaryFolder, testConfig, testLogger } from "../../stores.js";
import { engineResponseText, quietClient, startEngine } from "../engine-under-test.js";
import { type StandInCluster, startCluster } from "./stand-in-cluster.js";

async function openOn(t: Test, cluster: StandInCluster) {
  const folder = temporaryFolder(t);
  const tenant = fixedTenant("acme").replace("embedded:acme", cluster.connectionString("acme"));
  const config = testConfig(
    `data_dir: ${folder}/data\nclickhouse: { cluster: main }\ntenants:${tenant}`,
    folder,
  );
  copyMigratedPostgres(config.data_dir);
  const stores = await openStores({ config, logger: testLogger });
  t.teardown(() => stores.close());
  return stores;
}

function direct(t: Test, { hosts: [{ port }], engine: { endpoint } }: StandInCluster) {
  const { username, password } = endpoint;
  return quietClient(t, { url: `http://127.0.0.1:${port}`, username, password });
}

t.test("a tenant can be stored on a cluster", async (t) => {
  const cluster = await startCluster(t);
  const [first, second] = cluster.hosts;
  const stores = await openOn(t, cluster);
  const { client } = await stores.tenant("acme");

  await t.test(
    "a tenant's database on a cluster is replicated with all tables that store rows",
    async (t) => {
      const created = first.sent.filter(({ statement }) => /^(?:\s*--.*\n)*\s*CREATE\b/.test(statement));
      t.equal(
        created[0]?.statement.trim(),
        "CREATE DATABASE IF NOT EXISTS `acme` ON CLUSTER `main` ENGINE = Replicated('/clickhouse/databases/acme', '{shard}', '{replica}')",
      );
      const tables = created.filter(({ statement }) => /MergeTree/.test(statement));
      t.ok(tables.length >= 20);
      for (const { statement } of tables) t.match(statement, /ENGINE = Replicated\w*MergeTree/);
      const [count] = await engineResponseText(
        client,
        "SELECT count() FROM system.tables WHERE database = 'acme'",
      ).then((rows) => [Number(rows)]);
      t.ok(Number(count) >= 40, "the engine has all tables");

      const { settings } = first.sent.at(-1) ?? {};
      const reported = [
        "alter_sync",
        "replication_wait_for_inactive_replica_timeout",
        "insert_quorum",
        "distributed_ddl_output_mode",
        "insert_deduplicate",
      ];
      t.strictSame(
        reported.map((setting) => settings?.get(setting)),
        ["2", "0", "auto", "none_only_active", "0"],
      );
      t.strictSame(
        [settings?.get("deduplicate_insert"), settings?.get("deduplicate_insert_select")],
        ["disable", "disable"],
      );
      t.strictSame(second.sent, [], "the second host is not used while the first one is up");
    },
  );

  await t.test("statements are carried out on the other replicas while one is down", async (t) => {
    await client.command({ query: "INSERT INTO publishing_days VALUES ('2026-01-01', 'r', false)" });
    const unfinished =
      "Code: 341. DB::Exception: Timeout exceeded while waiting for replicas r2 to process entry log-0000000002. ";
    first.after = (statement) =>
      statement.startsWith("TRUNCATE")
        ? `${unfinished}Probably some replicas are inactive. (UNFINISHED) (version 26.7.2.1)`
        : undefined;
    await client.command({ query: "TRUNCATE TABLE publishing_days" });
    t.equal(await engineResponseText(client, "SELECT count() FROM publishing_days"), "0");

    first.after = () => `${unfinished}Something else. (UNFINISHED) (version 26.7.2.1)`;
    await t.rejects(
      client.command({ query: "TRUNCATE TABLE publishing_days" }),
      { code: "341" },
      "without an unreachable replica, the error is passed on",
    );
    first.after = () =>
      "Code: 285. DB::Exception: replicas are inactive. (TOO_FEW_LIVE_REPLICAS) (version 26.7.2.1)";
    const tooFew = await client.command({ query: "TRUNCATE TABLE publishing_days" }).then(
      () => undefined,
      (error: unknown) => error,
    );
    t.equal(storeInTrouble(tooFew), "ClickHouse");
  });

  await t.test("a replica must catch up before it is used", async (t) => {
    first.stop();
    // The first attempt may use the connection that is being closed.
    const send = () => engineResponseText(client, "SELECT 41 + 1");
    t.equal(await send().catch(send), "42");
    const requested = second.sent.map(({ statement }) => statement.trim());
    t.equal(requested.at(-1)?.startsWith("SELECT 41 + 1"), true);
    const synced = requested.filter((each) => each.startsWith("SYSTEM SYNC"));
    t.equal(synced[0], "SYSTEM SYNC DATABASE REPLICA `acme`");
    for (const table of ["billing", "chargebacks", "publishing_days"])
      t.ok(synced.includes(`SYSTEM SYNC REPLICA \`acme\`.\`${table}\``), table);
    t.strictSame(
      requested
        .slice(0, -1)
        .filter((each) => !/^SYSTEM SYNC|FROM system\.(databases|replicas|tables)/.test(each)),
      [],
      "only checks of the replica come before",
    );
  });
});

t.test("a cluster that cannot store a tenant is refused with the reason", async (t) => {
  const cases = [
    [{ clusters: [["other", 1]] }, "clickhouse/acme: the server knows no cluster main: it knows other."],
    [{ clusters: [] }, "clickhouse/acme: the server knows no cluster main: it knows none."],
    [
      {
        clusters: [
          ["main", 1],
          ["main", 2],
        ],
      },
      "clickhouse/acme: cluster main has 2 shards: a tenant's rows are on one shard, so name a cluster of one shard, for each tenant in storage.cluster if need be.",
    ],
    [
      { macros: ["shard"] },
      "clickhouse/acme: the server lacks the macro replica, which distinguish replicas.",
    ],
    [
      { macros: [] },
      "clickhouse/acme: the server lacks the macros shard and replica, which distinguish replicas.",
    ],
  ] as const;
  const cluster = await startCluster(t);
  for (const [reported, message] of cases) {
    cluster.tell(reported);
    await t.rejects(clusterSettings(direct(t, cluster), { name: "main", database: "acme" }), {
      code: "migration_refused",
      message,
    });
  }
});

t.test("a single replica gets no insert quorum, for which the engine would wait forever", async (t) => {
  const cluster = await startCluster(t);
  for (const [replicas, quorum] of [
    [1, undefined],
    [2, "auto"],
  ] as const) {
    cluster.tell({ clusters: Array(replicas).fill(["main", 1]) });
    const settings = await clusterSettings(direct(t, cluster), { name: "main", database: "acme" });
    t.equal(settings.insert_quorum, quorum);
  }
});

t.test("an unreplicated database is refused if a cluster is configured", async (t) => {
  const { endpoint } = await startEngine(t);
  const engine = quietClient(t, endpoint);
  await engine.command({ query: "CREATE DATABASE plain" });
  await t.rejects(refuseOtherKind(engine, { database: "plain", cluster: "main" }), {
    code: "migration_refused",
    message:
      "clickhouse/plain: the database is there, and its engine Atomic keeps one copy: leave cluster main out, or move the tenant to another database.",
  });
  await refuseOtherKind(engine, { database: "plain", cluster: undefined });
  await refuseOtherKind(engine, { database: "missing", cluster: "main" });
});
