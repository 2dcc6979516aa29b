/** Generates `docs/reference/openapi.json`. It only needs the schemas, not the stores. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { Pool } from "pg";
import { pino } from "pino";
import { projectRoot } from "../../common/project.js";
import { buildApp } from "../app.js";
import type { ApiDocument } from "./openapi-types.js";

export async function openapiDocument(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(projectRoot(), "package.json"), "utf8"));
  const app = await appWithoutStores(version);
  try {
    await app.ready();
    const document: ApiDocument = JSON.parse(JSON.stringify(app.swagger()));
    return `${JSON.stringify(document, null, 2)}\n`;
  } finally {
    await app.close();
  }
}

/** Builds the application with the default configuration, without tenants and stores. */
export function appWithoutStores(version: string): Promise<FastifyInstance> {
  const nothing = async () => undefined;
  return buildApp({
    config: {
      embedded: { sql_host: "127.0.0.1", sql_users: {} },
      api: {
        host: "127.0.0.1",
        port: 8080,
        auth: "none",
        insecure: false,
        public: ["docs"],
        roles: [],
        sessions: { idle_minutes: 60, max_hours: 12 },
        rate_limit: { max_per_minute: 6000, max_failed_sign_ons_per_minute: 30 },
        allowed_hosts: [],
        trusted_proxies: [],
        console: false,
        enable_cors: false,
        cors_origins: [],
        request_timeout_seconds: 30,
        max_heavy_reads: 4,
        max_waiting_reads: 64,
      },
      tenants: new Map(),
    },
    // The pool never connects, because no query is sent.
    stores: {
      postgres: new Pool(),
      tenant: () => Promise.reject(new Error("there are no tenants")),
      close: nothing,
    },
    control: undefined,
    logger: pino({ level: "silent" }),
    version,
    mode: "both",
    tags: { start: () => undefined, stop: nothing, afterWrite: nothing, beforeRead: nothing },
  });
}
