/**
 * A process that is killed in one of its stages. It opens its stores, reports what a predecessor left and the result of
 * a run, and then does its stage until it dies at the given point.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@clickhouse/client";
import { addDays } from "../../src/common/days.js";
import { openPostgres } from "../../src/postgres/client.js";
import { migratePostgres, postgresMigrationStatus } from "../../src/postgres/migrate.js";
import { runStatement } from "../../src/postgres/statement.js";
import { expireLeases } from "../../src/runner/sql/leases.js";
import { clickHouseMigrationStatus } from "../../src/stores/migrate-clickhouse.js";
import { migrationFolders, openStores } from "../../src/stores/open-stores.js";
import { createTagMirror } from "../../src/tags/tag-mirror.js";
import { addTag } from "../../src/tags/write.js";
import { csvEmitter, emittedLines, namesIn, withEmitters } from "../export/emitters/emitting.js";
import { testConfig, testLogger } from "../stores.js";
import { dieAt } from "./die-at.js";
import type { StatementPoint } from "./kill-points.js";
import { reconciled, runContext, runDay, runOnce, runRows } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

export interface StageInput {
  readonly yaml: string;
  readonly folder: string;
  /** Number of the process. Each is a day later than the one before, with another bill. */
  readonly number: number;
  /** Its work after a run. `open` has none, because the process dies while its stores are opened. */
  readonly stage: "open" | "tag" | "run" | "end";
  readonly point?: StatementPoint;
}

/** The data that a process finds, and the result of its run. */
export interface StageRecovery {
  /** Migrations that were not applied when the stores were opened. */
  readonly pending: readonly string[];
  /** Days whose bill and chargebacks differ for readers before anything is repaired. */
  readonly leftUnbalanced: readonly unknown[];
  /** Keys of the tags in Postgres and in ClickHouse, and the number of waiting changes. */
  readonly tags: readonly string[];
  readonly mirrored: readonly string[];
  readonly waiting: number;
  readonly errors: readonly string[];
  readonly off: readonly unknown[];
  /** Days with chargebacks, with state, and with files, each with its sum if there is one. */
  readonly days: readonly string[];
  readonly states: readonly string[];
  readonly files: readonly string[];
}

const { yaml, folder, number, stage, point }: StageInput = JSON.parse(process.argv[2] ?? "{}");
const out = join(folder, "out");
const config = withEmitters(testConfig(yaml, folder), "acme", [csvEmitter(out)]);
/** The prototype of all ClickHouse clients. */
const allClients = Object.getPrototypeOf(createClient());
const say = (fact: object) => console.log(JSON.stringify(fact));

if (stage === "open" && point !== undefined) dieAt(point, allClients);
const stores = await openStores({ config, logger: testLogger });
const { postgres } = stores;
const { client } = await stores.tenant("acme");
await runStatement(postgres, expireLeases());
const mirror = createTagMirror({ stores, tenantNames: ["acme"], logger: testLogger });
say({ recovery: await recover() });
if (stage !== "open" && point !== undefined) dieAt(point, allClients);
if (stage === "tag") await tag(`tag-${number}`);
if (stage === "run") await run(number + 1);
if (stage === "end") say({ schemas: await schemas() });
await mirror.stop();
await stores.close();

/** Runs on the day of this process, with its bill. */
async function run(version: number) {
  const now = new Date(`${addDays(runDay, version)}T12:00:00Z`);
  const { upstream, ecosystems } = scriptedUpstream();
  for (let age = 2; age <= 8; age += 1)
    upstream.bill.set(addDays(runDay, version - age), { "r-1": String(100 + version) });
  return await runOnce(runContext(stores, { ecosystems, now: () => now }), config, "acme");
}

async function recover(): Promise<StageRecovery> {
  const pending = [
    ...(await postgresMigrationStatus(postgres, migrationFolders.postgres)),
    ...(await clickHouseMigrationStatus(client, { dir: migrationFolders.clickhouse, database: "acme" })),
  ].filter(({ state }) => state !== "applied");
  const leftUnbalanced = await runRows(
    stores,
    "acme",
    "SELECT * FROM daily_reconciliation WHERE difference != 0",
  );
  await mirror.beforeRead("acme");
  const mirrored = await runRows<{ tag_key: string }>(
    stores,
    "acme",
    "SELECT tag_key FROM dimension_tags FINAL WHERE is_deleted = 0 ORDER BY tag_key",
  );
  const { errors } = await run(number);
  const { off } = await reconciled(stores, "acme");
  const days = await runRows<{ day: string }>(
    stores,
    "acme",
    "SELECT concat(toString(day), ' ', toString(sum(amount))) AS day FROM chargebacks GROUP BY chargebacks.day ORDER BY day",
  );
  const texts = async (query: string) =>
    (await postgres.query<{ text: string }>(query)).rows.map(({ text }) => text);
  return {
    pending: pending.map(({ revision }) => revision),
    leftUnbalanced,
    tags: await texts("SELECT tag_key AS text FROM tags ORDER BY tag_key"),
    mirrored: mirrored.map(({ tag_key }) => tag_key),
    waiting: (await texts("SELECT outbox_id::text AS text FROM tag_outbox")).length,
    errors: errors.map(({ message }) => message),
    off,
    days: days.map(({ day }) => day),
    states: await texts("SELECT to_char(tracking_date, 'YYYY-MM-DD') AS text FROM tracking_dates ORDER BY 1"),
    files: namesIn(out).map((name) => `${name} ${sumOf(name)}`),
  };
}

/** Returns the sum of the amounts in a file, which are whole numbers or halves here. */
function sumOf(name: string): number {
  const [header = ""] = readFileSync(join(out, name), "utf8").split("\n");
  const column = header.split(",").indexOf("amount");
  return emittedLines(out, name).reduce(
    (sum, line) => sum + Number(line.split(",").at(column - header.split(",").length)),
    0,
  );
}

/** Writes a tag like the API. */
async function tag(key: string): Promise<void> {
  const { rows } = await postgres.query<{ dimension_id: number }>(
    "SELECT dimension_id FROM dimensions LIMIT 1",
  );
  const [{ dimension_id: dimensionId } = { dimension_id: 0 }] = rows;
  const input = { tag_key: key, display_name: "x", created_by: "ada" };
  await addTag({ postgres, tenantName: "acme", dimensionId }, input);
  say({ responded: key });
  await mirror.afterWrite("acme");
}

/** Returns the columns of both stores, and those of stores that were migrated without interruption. */
async function schemas() {
  await postgres.query("CREATE DATABASE untouched");
  const { host = "", port = 5432, user = "", password = "" } = postgres.options;
  const untouched = openPostgres(
    { host, port, user, password, database: "untouched" },
    { logger: testLogger },
  );
  await migratePostgres(untouched, { dir: migrationFolders.postgres, logger: testLogger });
  await stores.tenant("untouched");
  const columns = `
    SELECT table_name, column_name, data_type, column_default, is_nullable FROM information_schema.columns
    WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`;
  const inClickHouse = async (database: string) =>
    await runRows(
      stores,
      "acme",
      `SELECT table, name, type, default_kind, default_expression FROM system.columns
       WHERE database = '${database}' AND NOT startsWith(table, 'staged_') ORDER BY table, position`,
    );
  const found = {
    killed: [(await postgres.query(columns)).rows, await inClickHouse("acme")],
    untouched: [(await untouched.query(columns)).rows, await inClickHouse("untouched")],
  };
  await untouched.end();
  return found;
}
