/** Fills a service under random requests, and returns the values that find its rows. */
import { randomUUID } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { dimensionIds, recordTestDimensions } from "../../tags/tagging.js";
import { gatherInto } from "../gathered-inventory.js";
import { insertBilling, insertChargebacks, NOW, type Service } from "../service.js";
import type { HttpAnswer } from "./client.js";

/** Lists grow with the requests, and drop their oldest items. */
export type KnownValues = Record<string, unknown[]>;

/** Later requests use the ids, cursors and ETags that the service returned. */
export function remember(known: KnownValues, { status, json, etag }: HttpAnswer): void {
  if (status >= 300) return;
  if (etag !== undefined) note(known, "If-None-Match", etag);
  const record: Record<string, unknown> = typeof json === "object" && json !== null ? { ...json } : {};
  for (const name of ["run_id", "tag_id"]) if (record[name] !== undefined) note(known, name, record[name]);
}

function note(known: KnownValues, name: string, value: unknown): void {
  known[name] = [...(known[name] ?? []), value].slice(-20);
}

/** Adds a new tag to one of the known dimensions. */
export async function fuzzTag(app: FastifyInstance, known: KnownValues): Promise<void> {
  const [id] = known.dimension_id ?? [];
  const payload = { tag_key: randomUUID(), display_name: "Fresh", created_by: "ada" };
  const made = await app.inject({
    method: "POST",
    url: `/api/v1/tenants/acme/chargebacks/${id}/tags`,
    payload,
  });
  note(known, "tag_id", made.json().tag_id);
}

/** All known dimensions have a row on this day. */
const COMMON_DAY = "2026-03-09";

/** Adds rows, inventory and tags, and returns the values that find them. */
export async function filled({ app, stores }: Service): Promise<KnownValues> {
  const eachDay = Array.from({ length: 60 }, (_, index) => ({
    timestamp: `2026-03-0${1 + (index % 9)}T0${index % 10}:00:00Z`,
    amount: `${index - 5}.${index}`,
    identity_id: `sa-${index % 7}`,
    resource_id: `r-${index % 5}`,
    env_id: index % 3 === 0 ? "env-1" : "",
    product_type: index % 2 === 0 ? "STORAGE" : "NETWORK",
    cost_type: index % 4 === 0 ? ("shared" as const) : ("usage" as const),
    ...(index % 10 === 0 && { allocation_method: "terminal", allocation_detail: "no_identities_located" }),
  }));
  const ofKnown = eachDay.filter((_, index) => index % 7 < 3);
  const rows = [...eachDay, ...ofKnown.map((row) => ({ ...row, timestamp: `${COMMON_DAY}T12:00:00Z` }))];
  await insertChargebacks(stores, "acme", rows);
  await insertBilling(
    stores,
    "acme",
    rows.map(({ timestamp, resource_id, product_type, env_id }, index) => ({
      timestamp,
      resource_id,
      product_type,
      env_id,
      total_cost: `${index}.5`,
    })),
  );
  await recordTestDimensions(stores, "acme");
  await gatherInto(stores, "acme", {
    at: NOW.toISOString(),
    resources: [0, 1, 2, 3, 4].map((index) => ({ resource_id: `r-${index}`, display_name: `R ${index}` })),
    identities: [0, 1, 2].map((index) => ({
      identity_id: `sa-${index}`,
      created_at: "2026-01-01T00:00:00Z",
    })),
  });
  const ids = (
    await Promise.all([0, 1, 2].map((index) => dimensionIds(stores, "acme", `sa-${index}`)))
  ).flat();
  const tagIds: number[] = [];
  for (const [index, id] of ids.entries()) {
    for (const tag_key of ["team", `key-${index}`]) {
      const payload = { tag_key, display_name: `Name ${index % 3}`, created_by: "ada" };
      const made = await app.inject({
        method: "POST",
        url: `/api/v1/tenants/acme/chargebacks/${id}/tags`,
        payload,
      });
      tagIds.push(made.json().tag_id);
    }
  }
  const { rows: deliveries } = await stores.postgres.query<{ id: number }>(`
    INSERT INTO deliveries (tenant_name, source, scope, kind, content_id, settings_hash, state, problem, epoch, loaded_at)
    SELECT 'acme', 'bills', scope, 'snapshot', 'c', 'h', 'waiting_for_acceptance', 'it is smaller', 1, now()
    FROM unnest(ARRAY['2026-01', '2026-02']) AS scope RETURNING delivery_id::int AS id`);
  return {
    "text/csv": [
      "date,metric,resource_id,identity_id,quantity\n2026-03-01,gpu_hours,gpu-1,team-a,12.5\n",
      "hour,metric,resource_id,identity_id,quantity\n2026-03-01T05:00:00Z,gpu_hours,gpu-1,team-a,1e-3\n",
    ],
    "Idempotency-Key": Array.from({ length: 50 }, (_, index) => `key-${index}`),
    delivery_id: deliveries.map(({ id }) => id),
    tenant_name: ["acme", "acme", "acme", "globex"],
    dimension_id: ids,
    tag_id: tagIds,
    identity_id: ["sa-0", "sa-1", "UNALLOCATED"],
    resource_id: ["r-0", "r-1"],
    product_type: ["STORAGE", "NETWORK"],
    resource_type: ["cluster"],
    identity_type: ["principal"],
    timezone: ["UTC", "America/Denver", "Asia/Kolkata", "Pacific/Kiritimati", "Europe/Berlin"],
    start_date: ["2026-03-01", "2026-02-10", "1900-01-01"],
    date: [COMMON_DAY, COMMON_DAY, COMMON_DAY, "2026-03-01", "2026-02-10", "1900-01-01"],
    timestamp: [`${COMMON_DAY}T12:00:00Z`],
    component: [0],
    end_date: ["2026-03-09", "2026-03-10", "2299-12-31"],
    search: ["r", "sa", "%", "Name 1"],
    tag_names: ["Name 1", "Name 0,Name 2", "UNTAGGED"],
    tag_key: Array.from({ length: 200 }, (_, index) => `fuzz-${index}`),
    group_by: ["identity_id", "resource_id", "environment_id", "tag:team", "line_tag:team", "rule"],
  };
}
