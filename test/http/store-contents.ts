/** Compares the contents of both stores before and after, to find unwanted changes. */
import type { OpenedStores } from "../../src/stores/open-stores.js";

/** Lists the tables of both stores with the number and a hash of their rows. */
export async function contents(stores: OpenedStores): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const tenant of ["acme", "globex"]) {
    const { client } = await stores.tenant(tenant);
    const rows = async <Row>(query: string) =>
      (await client.query({ query, format: "JSONEachRow" })).json<Row>();
    const tables = await rows<{ name: string; engine: string }>(
      "SELECT name, engine FROM system.tables WHERE database = currentDatabase() ORDER BY name",
    );
    for (const { name, engine } of tables) {
      const isStored = engine.endsWith("MergeTree");
      const [hash] = isStored
        ? await rows<object>(`SELECT count() AS n, sum(cityHash64(*)) AS hash FROM "${name}"`)
        : [{}];
      found[`${tenant}.${name}`] = JSON.stringify({ engine, ...hash });
    }
  }
  const { rows: tables } = await stores.postgres.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
  );
  for (const { name } of tables) {
    const { rows } = await stores.postgres.query(
      `SELECT count(*), md5(string_agg(t::text, ',' ORDER BY t::text)) FROM "${name}" AS t`,
    );
    found[`postgres.${name}`] = JSON.stringify(rows);
  }
  return found;
}
