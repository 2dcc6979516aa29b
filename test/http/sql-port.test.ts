/** Where SQL clients reach a tenant. */
import t from "tap";
import { get, startService } from "./service.js";

t.test("GET /api/v1/tenants/{tenant_name}/sql-port", async (t) => {
  const { app, config, build } = await startService(t);
  const path = (tenant: string) => `/api/v1/tenants/${tenant}/sql-port`;
  const closed = { is_embedded: true, is_open: false, host: null, port: null, tls: null, database: null };
  t.strictSame((await get(app, path("acme"))).body, closed);
  t.equal((await get(app, path("nobody"))).status, 404);

  const database = (tenant: string) => config.tenants.get(tenant)?.storage.database;
  const sent = async (embedded: object, tenant: string) => {
    const opened = await build({
      config: { ...config, embedded: { ...config.embedded, sql_port: 8124, ...embedded } },
    });
    const { body } = await get(opened, path(tenant));
    await opened.close();
    return body;
  };
  const open = { is_embedded: true, is_open: true, host: "127.0.0.1", port: 8124, tls: false };
  t.strictSame(await sent({ sql_user: "bi" }, "globex"), { ...open, database: database("globex") });
  const users = { sql_users: { bi: { password: "secret", tenants: ["acme"] } } };
  t.strictSame(await sent(users, "acme"), { ...open, database: database("acme") });
  t.strictSame(await sent(users, "globex"), closed, "no SQL user may read the tenant");
});
