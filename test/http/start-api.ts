import type { FastifyInstance } from "fastify";
import type { Test } from "tap";
import type { Config } from "../../src/config/config.js";
import { type AppOptions, buildApp } from "../../src/http/app.js";
import type { OpenedStores } from "../../src/stores/open-stores.js";
import { testLogger } from "../stores.js";

/** Starts the API, by default without a runner, on stores that the test has filled. It stops with the test. */
export async function startApi(
  t: Test,
  options: {
    readonly config: Config;
    readonly stores: OpenedStores;
    readonly now: Date;
    readonly mode?: AppOptions["mode"];
    readonly control?: AppOptions["control"];
  },
): Promise<FastifyInstance> {
  const { config, stores, now, mode = "api", control } = options;
  const app = await buildApp({
    config,
    stores,
    control,
    logger: testLogger,
    version: "1",
    mode,
    clock: () => now,
  });
  t.teardown(() => app.close());
  return app;
}
