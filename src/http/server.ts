/** The process part of the API: listens, and stops so that requests under way can end. */
import { refusalToListen } from "../config/api.js";
import { type AppOptions, buildApp } from "./app.js";
import { watchIdleConnections } from "./idle-connections.js";

export interface HttpServer {
  /** `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Takes no more requests; answers under way get `graceMs`, then their connections are cut. */
  close(graceMs?: number): Promise<void>;
}

/**
 * Listens where `config.api` says, or throws where that would let everybody in. With the mode `worker`, only what watches over a process
 * is served there.
 */
export async function startServer(options: AppOptions): Promise<HttpServer> {
  const refusal = refusalToListen(options.config.api);
  if (refusal !== undefined) throw new Error(refusal);
  const app = await buildApp(options);
  const idle = watchIdleConnections(app.server);
  const { host, port } = options.config.api;
  const url = await app.listen({ host, port });
  return {
    url,
    async close(graceMs = 10_000) {
      const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
      idle.end();
      try {
        await app.close();
      } finally {
        clearTimeout(cut);
      }
    },
  };
}
