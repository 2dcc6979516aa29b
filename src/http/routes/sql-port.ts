/** The port for SQL clients. Names of SQL users and their passwords are not shown. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { TenantConfig } from "../../config/config.js";
import type { HttpContext } from "../context.js";
import { tenantPathSchema } from "../schemas/parameters.js";
import { problemResponses } from "../schemas/problem.js";
import { sqlPortSchema } from "../schemas/sql-port.js";

export const sqlPortRoutes =
  ({ config: { embedded } }: HttpContext): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { sql_port: port, sql_host: host, sql_tls: tls, sql_user: user, sql_users: users } = embedded;
    const isReadable = ({ tenant_name: name }: TenantConfig) =>
      user !== undefined || Object.values(users).some(({ tenants }) => tenants.includes(name));

    app.get(
      "/tenants/:tenant_name/sql-port",
      {
        config: { scope: "read", heavy: false, etag: false, showsTags: false },
        schema: {
          operationId: "getSqlPort",
          tags: ["Tenants"],
          summary: "Port for SQL clients",
          description:
            "Returns the address at which SQL clients reach the tenant's views. An administrator gives out SQL users.",
          params: tenantPathSchema,
          response: {
            200: sqlPortSchema,
            ...problemResponses("tenant_not_found", "store_unavailable", "request_timeout"),
          },
        },
      },
      async ({ tenant }) => {
        const { storage } = tenant;
        const is_embedded = storage.kind === "embedded";
        if (storage.kind !== "embedded" || port === undefined || !isReadable(tenant))
          return { is_embedded, is_open: false, host: null, port: null, tls: null, database: null };
        return { is_embedded, is_open: true, host, port, tls: tls !== undefined, database: storage.database };
      },
    );
  };
