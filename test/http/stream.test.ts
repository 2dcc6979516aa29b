import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import t from "tap";
import { holds } from "../holds.js";
import { promise } from "../promise.js";
import { until } from "../until.js";
import { insertBilling, insertManyChargebacks, startService } from "./service.js";

const path = "/api/v1/tenants/acme/export";

/** These tests need a real connection: streams, aborted clients and time limits. */
t.test("the API works over a real connection", async (t) => {
  const service = await startService(t, [
    "request_timeout_seconds: 5",
    "enable_cors: true",
    "cors_origins: ['https://console.example.org']",
  ]);
  const { app, stores } = service;
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  const { client } = await stores.tenant("acme");
  await insertManyChargebacks(stores, "acme", { rows: 200_000, days: 5, identities: 200_000 });
  /** 200 MB in all are far more than the sockets buffer. */
  const wide = Array.from({ length: 50 }, () => "allocation_detail");
  /** Reads raw bytes, so that a broken connection is visible. */
  const post = async (columns: readonly string[] = wide, accept = "*/*"): Promise<IncomingMessage> => {
    const sent = request(`${address}${path}`, {
      method: "POST",
      agent: false,
      headers: { "content-type": "application/json", accept },
    });
    sent.on("error", () => undefined);
    sent.end(JSON.stringify({ columns }));
    const [response] = await once(sent, "response");
    return response;
  };
  const running = async () => {
    const result = await client.query({
      query:
        "SELECT count() AS n FROM system.processes WHERE query LIKE '%CustomSeparated%' AND query NOT LIKE '%system.processes%'",
      format: "JSONEachRow",
    });
    const [row] = await result.json<{ n: string }>();
    return Number(row?.n);
  };

  await t.test("a long export arrives completely", async (t) => {
    const response = await post();
    let lines = 0;
    for await (const chunk of response)
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines++;
    t.equal(lines, 200_001);
    t.equal(response.complete, true);
  });

  await t.test("a client that disconnects from an export cancels its query", async (t) => {
    const response = await post();
    await once(response, "readable");
    response.on("error", () => undefined);
    t.equal(await running(), 1, "the statement waits for the client");
    await delay(5200);
    t.equal(await running(), 1, "it still waits after the time limit for requests");
    response.destroy();
    await until("the statement is gone", async () => (await running()) === 0);
  });

  await t.test("an export that fails halfway breaks the connection", async (t) => {
    await client.command({ query: "RENAME TABLE chargebacks TO chargebacks_stored" });
    await client.command({
      query: `CREATE VIEW chargebacks AS SELECT * REPLACE (if(throwIf(day = '2026-03-05'), '', component_ratio) AS component_ratio)
        FROM chargebacks_stored`,
    });
    // The export runs a statement for each day, and the last of five fails.
    for (const accept of [
      "text/csv",
      "application/vnd.apache.parquet",
      "application/vnd.apache.arrow.stream",
    ]) {
      const response = await post(["metadata"], accept);
      t.equal(response.statusCode, 200);
      await t.rejects(async () => {
        for await (const chunk of response) chunk.fill(0);
      }, /aborted/);
      t.equal(response.complete, false, accept);
    }
  });

  await t.test(
    "a query that takes too long is cancelled with 504 and CORS headers, and /health does not wait",
    async (t) => {
      await insertBilling(
        stores,
        "acme",
        Array.from({ length: 10 }, (_, hour) => ({
          timestamp: `2026-03-01T0${hour}:00:00Z`,
          total_cost: "1",
        })),
      );
      await client.command({ query: "RENAME TABLE billing TO billing_stored" });
      await client.command({
        query: "CREATE VIEW billing AS SELECT * FROM billing_stored WHERE sleepEachRow(0.25) = 0",
      });
      const { config } = service;
      const hasty = await service.build({
        config: { ...config, api: { ...config.api, request_timeout_seconds: 1 } },
      });
      const address = await hasty.listen({ host: "127.0.0.1", port: 0 });
      let over = false;
      const slow = fetch(`${address}/api/v1/tenants/acme/billing`, {
        headers: { origin: "https://console.example.org" },
      }).finally(() => {
        over = true;
      });
      const health = await fetch(`${address}/health`);
      t.same([health.status, over], [200, false], "/health responds before the query is cancelled");
      const response = await slow;
      t.equal(response.status, 504);
      t.equal(response.headers.get("access-control-allow-origin"), "https://console.example.org");
      holds(t, await response.json(), { code: "request_timeout", detail: /timeout of 1 seconds/ });
    },
  );

  await t.test(
    "a stopping service responds to active requests and to those that follow on their connections",
    async (t) => {
      const [requested, sendRequest] = promise();
      const [held, release] = promise();
      const { config } = service;
      const stopping = await service.build({
        config: { ...config, api: { ...config.api, request_timeout_seconds: 300 } },
        control: {
          lookForDue: () => undefined,
          async trigger() {
            sendRequest();
            await held;
            return { run_id: "0b7e1f5e-6f1c-4c39-9d8e-3f0a2f6f7a10", queued: false };
          },
        },
      });
      const { port } = new URL(await stopping.listen({ host: "127.0.0.1", port: 0 }));
      const socket = connect(Number(port), "127.0.0.1");
      const send = (line: string) =>
        socket.write(`${line} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n`);
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk;
      });
      send("POST /api/v1/tenants/acme/pipeline/run");
      await requested;
      const stopped = stopping.close();
      const came = once(stopping.server, "request");
      send("GET /health");
      await came;
      t.equal(text, "");
      release();
      await once(socket, "close");
      await stopped;
      t.match(
        text,
        /^HTTP\/1\.1 202 .*"run_id":"0b7e1f5e-.*HTTP\/1\.1 200 .*connection: close.*"status":"ok"/is,
      );
    },
  );

  await t.test("a request that cannot be parsed gets an error response", async (t) => {
    const { port } = new URL(address);
    for (const [sent, response] of [
      [
        "GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        /^HTTP\/1\.1 400 .*"code":"invalid_request"/s,
      ],
      ["what is this\r\n\r\n", /^HTTP\/1\.1 400 .*"code":"unreadable_request"/s],
      [
        `GET /${"x".repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
        /^HTTP\/1\.1 431 .*"code":"headers_too_large"/s,
      ],
      [
        `GET /api/v1/tenants/${"x".repeat(9000)}/billing HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`,
        /^HTTP\/1\.1 404 .*"code":"tenant_not_found"/s,
      ],
    ] as const) {
      const socket = connect(Number(port), "127.0.0.1");
      socket.write(sent);
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk;
      });
      await once(socket, "close");
      holds(t, text, response);
      t.match(text, /content-type: application\/problem\+json\r\n/i);
      t.match(text, /x-request-id: [0-9a-f-]{36}\r\n/i);
      t.match(text, /connection: close\r\n/i);
    }
  });
});
