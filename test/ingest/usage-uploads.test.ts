/**
 * Uploads of usage, drawn at random and in random order, against a model in which each upload replaces what it covers.
 */
import { Readable } from "node:stream";
import t, { type Test } from "tap";
import { cleanUpUploads } from "../../src/ingest/usage-uploads/clean-up.js";
import { takeUpload, type UploadStore } from "../../src/ingest/usage-uploads/take-upload.js";
import fc from "../property.js";
import { Classes } from "./classes.js";
import { countingUploads } from "./counting-uploads.js";
import { openGatheringStores } from "./gathering-stores.js";

const signal = new AbortController().signal;
const stop = { signal, beforeCommit: () => undefined };
const metrics = ["cpu", "gpu"];
const window = { start: "2026-06-01", end: "2026-06-05" };
const limits = { metrics, maxBytes: 100_000 };

async function openStore(t: Test): Promise<UploadStore> {
  const { postgres, store } = await openGatheringStores(t);
  return { client: store.client, postgres, tenantName: store.tenantName };
}

async function take(store: UploadStore, key: string, text: string) {
  const body = Readable.from([Buffer.from(text)], { objectMode: false });
  return await takeUpload(store, { key, origin: "api", body, gatheredFrom: window.start }, limits, stop);
}

interface Row {
  readonly day: number;
  readonly hour: number;
  readonly metric: string;
  readonly resource: string;
  readonly identity: string;
  readonly millis: number;
}
interface Upload {
  readonly rows: readonly Row[];
  readonly hourly: boolean;
  /** The defect of its last row. */
  readonly broken: "quantity" | "metric" | undefined;
  /** Whether it is sent again under the same key, with the same bytes or others. */
  readonly again: "same" | "other" | undefined;
}

const row: fc.Arbitrary<Row> = fc.record({
  day: fc.integer({ min: 1, max: 4 }),
  hour: fc.integer({ min: 0, max: 23 }),
  metric: fc.constantFrom(...metrics),
  resource: fc.constantFrom("r-1", "r-2"),
  identity: fc.constantFrom("web", "data"),
  millis: fc.integer({ min: 0, max: 5000 }),
});
const upload: fc.Arbitrary<Upload> = fc.record({
  rows: fc
    .tuple(fc.array(row, { minLength: 1, maxLength: 5 }), fc.boolean())
    .map(([rows, hasEqual]) => (hasEqual ? [...rows, ...rows.slice(0, 1)] : rows)),
  hourly: fc.boolean(),
  broken: fc.constantFrom(undefined, undefined, undefined, "quantity" as const, "metric" as const),
  again: fc.constantFrom(undefined, undefined, "same" as const, "other" as const),
});

function textOf({ rows, hourly, broken }: Upload): string {
  const lines = rows.map(({ day, hour, metric, resource, identity, millis }, at) => {
    const isBroken = at === rows.length - 1 ? broken : undefined;
    const time = `2026-06-0${day}${hourly ? `T${String(hour).padStart(2, "0")}:00:00Z` : ""}`;
    const quantity = isBroken === "quantity" ? "-1" : (millis / 1000).toFixed(3);
    return [quantity, resource, isBroken === "metric" ? "mem" : metric, identity, time].join(",");
  });
  return [`quantity,resource_id,metric,identity_id,${hourly ? "hour" : "date"}`, ...lines].join("\n");
}

const kinds = [
  "hourly",
  "daily",
  "replaces in part",
  "replaces all",
  "adds",
  "refused",
  "same",
  "other",
  "equal rows",
] as const;

t.test("an upload replaces the days and metrics that it covers, whatever came before", async (t) => {
  const store = await openStore(t);
  const seen = new Classes<(typeof kinds)[number]>();
  let number = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(upload, { minLength: 1, maxLength: 5 }), async (uploads) => {
      await store.postgres.query("DELETE FROM usage_uploads");
      await cleanUpUploads(store, signal);
      const model = new Map<string, { of: number; facts: Map<string, number> }>();
      for (const each of uploads) {
        number += 1;
        const text = textOf(each);
        const taken = await take(store, `k${number}`, text).catch((error: Error) => error.name);
        if (each.broken !== undefined) {
          seen.met("refused");
          t.equal(taken, "RefusedUploadError");
          continue;
        }
        seen.met(each.hourly ? "hourly" : "daily");
        const before = new Map([...model].map(([key, { of }]) => [key, of]));
        const facts = new Map<string, Map<string, number>>();
        for (const { day, hour, metric, resource, identity, millis } of each.rows) {
          const pair = facts.get(`${day} ${metric}`) ?? new Map<string, number>();
          const key = `0${day}T${String(each.hourly ? hour : 0).padStart(2, "0")} ${metric} ${resource} ${identity}`;
          if (pair.has(key)) seen.met("equal rows");
          pair.set(key, (pair.get(key) ?? 0) + millis * 1000);
          facts.set(`${day} ${metric}`, pair);
        }
        const covered = new Set(facts.keys());
        const replaced = new Set([...covered].flatMap((key) => before.get(key) ?? []));
        for (const old of replaced) {
          const all = [...before].filter(([, of]) => of === old).every(([key]) => covered.has(key));
          seen.met(all ? "replaces all" : "replaces in part");
        }
        if (replaced.size === 0 && before.size > 0) seen.met("adds");
        for (const [key, pair] of facts) model.set(key, { of: number, facts: pair });
        if (each.again === undefined) continue;
        seen.met(each.again);
        const same = each.again === "same";
        const outcome = await take(store, `k${number}`, same ? text : `${text}\n`).catch(
          (error: Error) => error.name,
        );
        if (same) t.strictSame(outcome, taken);
        else t.equal(outcome, "KeyReusedError");
      }
      const facts = [...model.values()].flatMap((pair) =>
        [...pair.facts].map(([key, units]) => `${key}: ${units}`),
      );
      t.strictSame((await countingUploads(store)).facts, facts.sort());
      await cleanUpUploads(store, signal);
      const of = new Set([...model.values()].map((pair) => pair.of));
      t.strictSame(
        await countingUploads(store),
        { facts: facts.sort(), partitions: of.size },
        "cleaning up does not change it",
      );
    }),
    { numRuns: 40 },
  );
  t.strictSame(seen.missing(kinds, 3), []);
});

t.test("an upload that is cut off leaves the counting data in place", async (t) => {
  const store = await openStore(t);
  const first = { rows: [], hourly: false, broken: undefined, again: undefined };
  const one = { day: 1, hour: 0, metric: "cpu", resource: "r-1", identity: "web", millis: 1000 };
  await take(store, "a", textOf({ ...first, rows: [one] }));
  const counted = { facts: ["01T00 cpu r-1 web: 1000000"], partitions: 1 };

  await t.test("an upload that is cut off before its end leaves no trace", async (t) => {
    async function* half() {
      yield Buffer.from(textOf({ ...first, rows: [{ ...one, millis: 9000 }] }));
      throw new Error("the connection is gone");
    }
    const body = Readable.from(half(), { objectMode: false });
    const given = { key: "b", origin: "api" as const, body, gatheredFrom: window.start };
    await t.rejects(takeUpload(store, given, limits, stop), { message: "the connection is gone" });
    t.strictSame(await countingUploads(store), counted);
  });

  await t.test("an upload that is killed between the stores leaves no trace", async (t) => {
    const { client, postgres } = store;
    const begin = `INSERT INTO usage_uploads (tenant_name, idempotency_key, origin, state, started_at)
      VALUES ('acme', $1, $2, 'loading', now() - $3::interval) RETURNING upload_id::int AS id`;
    const loading = async (key: string, origin: string, ago: string) => {
      const { id } = (await postgres.query(begin, [key, origin, ago])).rows[0];
      await client.command({
        query: `INSERT INTO usage_uploads (upload_id, row, day, timestamp, metric) VALUES (${id}, 1, '2026-06-01', '2026-06-01 00:00:00', 'cpu')`,
      });
      return id;
    };
    await client.command({ query: "INSERT INTO usage_uploads (upload_id, row) VALUES (999999, 1)" });
    await loading("old", "api", "2 hours");
    await loading("file", "folder", "1 second");
    await loading("now", "api", "1 second");
    t.strictSame(await countingUploads(store), { ...counted, partitions: 5 });
    await cleanUpUploads(store, signal);
    t.strictSame(
      await countingUploads(store),
      { ...counted, partitions: 2 },
      "an upload that may still be active is left alone",
    );
  });

  await t.test("an upload that is aborted in the last moment leaves no trace", async (t) => {
    const body = Readable.from([Buffer.from(textOf({ ...first, rows: [{ ...one, millis: 9000 }] }))]);
    const late = {
      signal,
      beforeCommit: () => {
        throw new Error("too late");
      },
    };
    const given = { key: "c", origin: "api" as const, body, gatheredFrom: window.start };
    await t.rejects(takeUpload(store, given, limits, late), { message: "too late" });
    t.strictSame(await countingUploads(store), { ...counted, partitions: 2 });
    const { rows } = await store.postgres.query(
      "SELECT idempotency_key FROM usage_uploads ORDER BY upload_id",
    );
    t.strictSame(rows, [{ idempotency_key: "a" }, { idempotency_key: "now" }]);
  });
});
