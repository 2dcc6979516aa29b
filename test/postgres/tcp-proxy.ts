/** Postgres over TCP: a proxy in front of the socket of an embedded server. Its errors are those of a remote server. */
import { createConnection, createServer, type Socket } from "node:net";
import type pg from "pg";
import type { Test } from "tap";
import { openPostgres } from "../../src/postgres/client.js";
import { logger } from "../embedded-postgres/temporary.js";

/** Opens a pool that reaches the server of `server` through the proxy. */
export async function poolOverTcp(t: Test, server: pg.Pool) {
  const { host = "", port = 5432, user = "", password = "", database = "" } = server.options;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = createConnection(`${host}/.s.PGSQL.${port}`);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on("error", () => to.destroy());
      from.pipe(to);
    }
    sockets.add(client);
    client.on("close", () => sockets.delete(client));
  });
  const listen = (at: number) =>
    new Promise<void>((resolve) => {
      proxy.listen(at, "127.0.0.1", () => resolve());
    });
  await listen(0);
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  const pool = openPostgres({ host: "127.0.0.1", port: address.port, user, password, database }, { logger });
  t.teardown(async () => {
    await pool.end();
    proxy.close();
  });
  return {
    pool,
    /** Resets all connections. Further ones are refused. */
    goDown() {
      proxy.close();
      for (const socket of sockets) socket.resetAndDestroy();
    },
    comeBack: () => listen(address.port),
  };
}
