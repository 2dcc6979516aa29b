/**
 * The engine is killed while a client reads an export. The client sees that the file is incomplete, and the next export
 * is complete.
 */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import t from "tap";
import { until } from "../until.js";
import { insertManyChargebacks, startService } from "./service.js";

t.test("an export breaks when the engine is killed, and the next one is complete", async (t) => {
  const service = await startService(t);
  const { app, stores, log } = service;
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  await insertManyChargebacks(stores, "acme", { rows: 100_000, days: 5, identities: 100_000 });
  /** The export is larger than the sockets buffer. */
  const columns = ["identity_id", ...Array.from({ length: 49 }, () => "metadata")];
  const send = async (accept: string): Promise<IncomingMessage> => {
    const headers = { "content-type": "application/json", accept };
    const sent = request(`${address}/api/v1/tenants/acme/export`, { method: "POST", agent: false, headers });
    sent.on("error", () => undefined);
    sent.end(JSON.stringify({ columns }));
    const [response] = await once(sent, "response");
    return response;
  };
  const read = async (response: IncomingMessage) => {
    let bytes = 0;
    for await (const chunk of response) bytes += chunk.length;
    return bytes;
  };

  for (const accept of [
    "text/csv",
    "application/vnd.apache.parquet",
    "application/vnd.apache.arrow.stream",
  ]) {
    await t.test(accept, async (t) => {
      const whole = await send(accept);
      const size = await read(whole);
      t.equal(whole.complete, true);

      const logged = log.length;
      const response = await send(accept);
      t.equal(response.statusCode, 200);
      await once(response, "readable");
      const engine = stores.embeddedClickHouse?.pid() ?? 0;
      process.kill(engine, "SIGKILL");
      await t.rejects(read(response), { code: "ECONNRESET" });
      t.equal(
        response.complete,
        false,
        "the connection breaks, so that no client takes a part for the whole file",
      );
      await until("the failure is logged", () => log.length > logged);
      const { level, msg, path } = log[logged] ?? {};
      t.strictSame(
        { level, msg, path },
        {
          level: 40,
          msg: "an export broke off: the store went away",
          path: "/api/v1/tenants/acme/export",
        },
      );

      const health = await fetch(`${address}/health`);
      t.equal(health.status, 200, "the service stays up");
      await until(
        "the engine is back",
        async () =>
          (
            await fetch(
              `${address}/api/v1/tenants/acme/chargebacks?page_size=1&start_date=2026-03-01&end_date=2026-03-05`,
            )
          ).ok,
      );
      t.not(stores.embeddedClickHouse?.pid(), engine);
      const again = await send(accept);
      t.equal(await read(again), size);
      t.equal(again.complete, true, "the next export is complete");
    });
  }
});
