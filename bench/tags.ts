/** Benchmark of tags of 100,000 dimensions: created in bulk, searched among a million, and read one by one. */
import { dimensionFields, fingerprintSql, plainDimensionIdSql } from "../src/domain/dimension-id.js";
import type { OpenedStores } from "../src/stores/open-stores.js";
import type { TenantStore } from "../src/stores/stores.js";
import { copyNewDimensions } from "../src/tags/copy-new-dimensions.js";
import { sumUp } from "../test/sum-up.js";
import { countRows } from "./dataset.js";
import { readAll } from "./http-client.js";
import { type Figure, median, medianMs, once } from "./measure.js";
import { startBenchService } from "./service.js";

/** The tenant whose dimensions are tagged. */
export const taggedTenant = "bench_tags";

const DIMENSIONS = 100_000;
const DAYS = 10;
const KEYS = 10;
const BULK_TARGET = { at: "most", value: 3 } as const;
const SEARCH_TARGET = { at: "most", value: 50 } as const;

export interface TagBench {
  readonly stores: OpenedStores;
  readonly folder: string;
  readonly repeat: number;
  readonly say: (text: string) => void;
}

export async function benchTags({ stores, folder, repeat, say }: TagBench): Promise<Figure[]> {
  const store = await stores.tenant(taggedTenant);
  const { client, tenantName } = store;
  const { postgres } = stores;
  for (const table of ["tags", "tag_labels", "tag_outbox", "tag_mirrors", "dimensions"])
    await postgres.query(`DELETE FROM ${table} WHERE tenant_name = $1`, [tenantName]);
  if ((await countRows(client, "chargebacks")) === 0) await makeChargebacks(store);
  const figures: Figure[] = [];
  const note = (name: string, value: number, unit: Figure["unit"], more: Partial<Figure> = {}) =>
    void figures.push({ benchmark: "tags", name, value, unit, ...more });
  const seconds = async (run: () => Promise<unknown>) => (await once(run)) / 1000;
  note(
    "copy 100k new dimensions after a run",
    await seconds(() => copyNewDimensions({ client, postgres, tenantName })),
    "s",
  );

  const service = await startBenchService(stores, store, folder);
  try {
    const base = `${service.url}/api/v1/tenants/${tenantName}`;
    const bulk = (tag_key: string, more: object = {}) =>
      seconds(() =>
        readAll(`${base}/tags/bulk-by-filter`, {
          tag_key,
          display_name: `Team of ${tag_key}`,
          created_by: "bench",
          start_date: "2026-01-01",
          end_date: "2026-01-31",
          ...more,
        }),
      );
    const firstRow = `${base}/chargebacks?start_date=2026-01-01&end_date=2026-01-31&page_size=1`;
    say(`tags: ${KEYS} bulks`);
    const made: number[] = [];
    const durations: number[] = [];
    for (let key = 0; key < KEYS; key += 1) {
      made.push(await bulk(`key-${key}`));
      // A read waits until the store has all tags, so that the mirroring of one bulk does not overlap the next.
      durations.push(await seconds(() => readAll(firstRow)));
    }
    note("bulk by filter: 100k new tags", median(made), "s", {
      target: BULK_TARGET,
      note: `slowest of ${KEYS}: ${Math.max(...made).toFixed(2)} s`,
    });
    note("first row after it, with its tags", median(durations), "s");
    note(
      "bulk by filter: 100k overridden",
      await bulk("key-1", { override_existing: true, display_name: "Renamed" }),
      "s",
      { target: BULK_TARGET },
    );
    await readAll(firstRow);
    note("bulk by filter: 100k skipped", await bulk("key-1"), "s", { target: BULK_TARGET });
    await postgres.query("VACUUM ANALYZE tags, tag_labels");

    const searches = async (labels: string) => {
      for (const [what, query] of [
        ["all, page 1", ""],
        ["common needle", "search=team"],
        ["one key in ten", "search=KEY-7"],
        ["nothing found", "search=nowhere"],
        ["common needle, page 100", "search=team&page=100"],
      ])
        note(
          `search 1M tags, ${labels}: ${what}`,
          await medianMs(repeat, () => readAll(`${base}/tags?${query}`)),
          "ms",
          { target: SEARCH_TARGET },
        );
    };
    say("tags: search");
    await searches("11 labels");
    await giveEachItsLabel(stores, tenantName);
    await searches("a label for each");
    const [row] = (await postgres.query<{ dimension_id: number }>("SELECT dimension_id FROM tags LIMIT 1"))
      .rows;
    note(
      "dimension with its tags",
      await medianMs(repeat, () => readAll(`${base}/chargebacks/${row?.dimension_id}`)),
      "ms",
    );
    return figures;
  } finally {
    await service.stop();
  }
}

/** Makes 1,000 resources with 100 identities each, on ten days. */
async function makeChargebacks({ client }: TenantStore): Promise<void> {
  const fields = dimensionFields.join(", ");
  await client.command({
    query: `
INSERT INTO chargebacks (timestamp, ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type,
  allocation_method, allocation_detail, component_ratio, amount_hi)
SELECT toDateTime('2026-01-01 00:00:00', 'UTC') + INTERVAL intDiv(number, ${DIMENSIONS}) DAY, 'e', 'bench', 'env', concat('lkc-', toString(number % 1000)),
  'KAFKA', concat('PRODUCT_', toString(number % 5)), concat('sa-', toString(intDiv(number, 1000) % 100)), 'usage', 'usage_ratio',
  'usage_ratio_allocation', '1', 1
FROM numbers(${DIMENSIONS * DAYS})`,
  });
  await sumUp(client);
  await client.command({
    query: `INSERT INTO dimensions (dimension_id, fingerprint, ${fields})
SELECT ${plainDimensionIdSql("fingerprint")}, fingerprint, ${fields}
FROM (SELECT DISTINCT ${fingerprintSql()} AS fingerprint, ${fields} FROM chargebacks)`,
  });
}

/** Gives each tag a display name of its own, as if users had renamed them one by one. */
async function giveEachItsLabel({ postgres }: OpenedStores, tenantName: string): Promise<void> {
  await postgres.query(
    `INSERT INTO tag_labels (tenant_name, label_hash, tag_key, display_name, search_text, tag_count)
     SELECT tenant_name, sha256(tag_id::text::bytea), tag_key, 'Team ' || md5(tag_id::text), upper(tag_key) || chr(10) || 'TEAM ' || upper(md5(tag_id::text)), 1
     FROM tags WHERE tenant_name = $1`,
    [tenantName],
  );
  await postgres.query(
    `UPDATE tags SET label_id = l.label_id FROM tag_labels AS l
     WHERE tags.tenant_name = $1 AND l.tenant_name = $1 AND l.label_hash = sha256(tag_id::text::bytea)`,
    [tenantName],
  );
  await postgres.query(
    `DELETE FROM tag_labels AS l
     WHERE tenant_name = $1 AND NOT EXISTS (SELECT 1 FROM tags WHERE tags.tenant_name = $1 AND tags.label_id = l.label_id)`,
    [tenantName],
  );
  await postgres.query("VACUUM ANALYZE tags, tag_labels");
}
