/** A process of an older version still runs after a newer one has migrated the stores. */
import t from "tap";
import { holds } from "../holds.js";
import { openTestStores } from "../stores.js";
import { reconciled, runContext, runOnce, shortTenants } from "./runs.js";

t.test("a run is refused after a newer version has migrated its stores, and changes nothing", async (t) => {
  const { config, stores } = await openTestStores(t, shortTenants(["acme"]));
  const context = runContext(stores);
  holds(t, await runOnce(context, config, "acme"), { status: "completed" });
  const { client } = await stores.tenant("acme");
  const before = await reconciled(stores, "acme");

  await client.command({
    query: "INSERT INTO schema_migrations VALUES ('9999', 'from_the_future', '', now())",
  });
  holds(t, await runOnce(context, config, "acme"), {
    status: "failed",
    errors: [
      {
        source: "run",
        message:
          /clickhouse\/acme: the schema is newer than this version of chargehouse: .* 9999_from_the_future/,
      },
    ],
  });
  await client.command({ query: "DELETE FROM schema_migrations WHERE revision = '9999'" });
  await stores.postgres.query("INSERT INTO schema_migrations (name, run_on) VALUES ('9999_later', now())");
  holds(t, await runOnce(context, config, "acme"), {
    status: "failed",
    errors: [
      {
        source: "run",
        message: /postgres: the schema is newer than this version of chargehouse: .* 9999_later/,
      },
    ],
  });
  t.strictSame(await reconciled(stores, "acme"), before);
  await stores.postgres.query("DELETE FROM schema_migrations WHERE name = '9999_later'");
  holds(t, await runOnce(context, config, "acme"), { status: "completed" });
});
