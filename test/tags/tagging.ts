/** Helpers of the tests of tags: dimensions to tag, requests, and reads of both stores. */
import type { FastifyInstance } from "fastify";
import { dimensionFields, fingerprintSql, plainDimensionIdSql } from "../../src/domain/dimension-id.js";
import type { OpenedStores } from "../../src/stores/open-stores.js";

const fields = dimensionFields.join(", ");

/** Records the dimensions of all chargebacks, as publishing does. */
export async function recordTestDimensions(stores: OpenedStores, tenant: string): Promise<void> {
  const { client } = await stores.tenant(tenant);
  await client.command({
    query: `INSERT INTO dimensions (dimension_id, fingerprint, ${fields})
      SELECT ${plainDimensionIdSql("fingerprint")}, fingerprint, ${fields}
      FROM (SELECT DISTINCT ${fingerprintSql()} AS fingerprint, ${fields} FROM chargebacks)
      WHERE fingerprint NOT IN (SELECT fingerprint FROM dimensions)`,
  });
}

/** Ids of the dimensions with this identity, ascending. */
export async function dimensionIds(
  stores: OpenedStores,
  tenant: string,
  identity: string,
): Promise<number[]> {
  const { client } = await stores.tenant(tenant);
  const result = await client.query({
    query:
      "SELECT DISTINCT dimension_id FROM dimensions WHERE identity_id = {identity:String} ORDER BY dimension_id",
    query_params: { identity },
    format: "JSONEachRow",
  });
  return (await result.json<{ dimension_id: string }>()).map((row) => Number(row.dimension_id));
}

/** Tags in the tenant's ClickHouse, as `dimension key=name`, sorted. */
export async function mirrored(stores: OpenedStores, tenant: string): Promise<string[]> {
  const { client } = await stores.tenant(tenant);
  const result = await client.query({
    query:
      "SELECT concat(toString(dimension_id), ' ', tag_key, '=', display_name) AS tag FROM dimension_tags FINAL ORDER BY tag",
    format: "JSONEachRow",
  });
  return (await result.json<{ tag: string }>()).map((row) => row.tag);
}

/** Tags in Postgres, in the same form. */
export async function writtenTags(stores: OpenedStores, tenant: string): Promise<string[]> {
  const { rows } = await stores.postgres.query<{ tag: string }>(
    `SELECT t.dimension_id || ' ' || t.tag_key || '=' || display_name AS tag FROM tags AS t JOIN tag_labels USING (label_id)
     WHERE t.tenant_name = $1 ORDER BY (t.dimension_id || ' ' || t.tag_key || '=' || display_name) COLLATE "C"`,
    [tenant],
  );
  return rows.map((row) => row.tag);
}

/** Labels whose count differs from the number of their tags. There must never be any. */
export async function miscounted(stores: OpenedStores): Promise<unknown[]> {
  const { rows } = await stores.postgres.query(
    `SELECT l.tag_key, l.display_name, l.tag_count, count(t.tag_id) AS tags FROM tag_labels AS l LEFT JOIN tags AS t USING (label_id)
     GROUP BY l.label_id HAVING l.tag_count <> count(t.tag_id)`,
  );
  return rows;
}

export type TaggingMethod = "GET" | "POST" | "PATCH" | "DELETE";

/**
 * Sends a request to `/api/v1/tenants/…`. The response is untyped, because each test checks the fields that it expects.
 */
export async function sendTagRequest(
  app: FastifyInstance,
  method: TaggingMethod,
  path: string,
  payload?: object,
) {
  const response = await app.inject({ method, url: `/api/v1/tenants/${path}`, ...(payload && { payload }) });
  return {
    status: response.statusCode,
    headers: response.headers,
    body: response.body === "" ? undefined : response.json(),
  };
}

export function tag(tag_key: string, display_name: string, created_by = "ada") {
  return { tag_key, display_name, created_by };
}
