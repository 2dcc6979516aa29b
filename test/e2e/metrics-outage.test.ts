/**
 * The metrics of all three ecosystems fail completely, in every form of an outage. Earlier measurements are kept: no
 * day is recalculated, none becomes provisional, and all chargebacks stay the same.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import t from "tap";
import { reconciled, runRecords, runRows, type Test } from "../runner/runs.js";
import { days, type SimulatedService, startSimulatedService } from "./simulated-cloud.js";

type Outage = "none" | "503" | "refused" | "empty" | "cfu_503" | "cfu_empty";

const CFU = "confluent_flink_num_cfu";

/** A proxy to an upstream. It can refuse connections, return 503, or return no series with status 200. */
async function startSwitch(t: Test, target: string) {
  let outage: Outage = "none";
  const listen = async (port: number) => {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const isCfu = `${request.url} ${body}`.includes(CFU);
      if (outage === "503" || (outage === "cfu_503" && isCfu))
        return response.writeHead(503, { "retry-after": "0" }).end("down");
      if (outage === "empty" || (outage === "cfu_empty" && isCfu)) {
        const resultType = request.url?.includes("query_range") ? "matrix" : "vector";
        response.writeHead(200, { "content-type": "application/json" });
        return response.end(JSON.stringify({ status: "success", data: { resultType, result: [] } }));
      }
      const proxied = await fetch(target + request.url, {
        method: request.method ?? "GET",
        headers: { "content-type": request.headers["content-type"] ?? "text/plain" },
        ...(body.length > 0 && { body }),
      });
      response.writeHead(proxied.status, { "content-type": "application/json" });
      return response.end(Buffer.from(await proxied.arrayBuffer()));
    });
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return server;
  };
  const close = async (server: Server) => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  let server: Server | undefined = await listen(0);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the switch has no port");
  t.teardown(async () => {
    if (server !== undefined) await close(server);
  });
  return {
    url: `http://127.0.0.1:${address.port}`,
    async set(next: Outage) {
      outage = next;
      if (next === "refused" && server !== undefined) {
        await close(server);
        server = undefined;
      } else if (next !== "refused") server ??= await listen(address.port);
    },
  };
}

/** All chargebacks and attributions with reason and provisional state. */
async function charges({ stores }: SimulatedService, tenant: string): Promise<string[]> {
  const rows = await runRows<{ row: string }>(
    stores,
    tenant,
    `SELECT toJSONString(tuple(*)) AS row FROM (
       SELECT toString(day), 'chargebacks', resource_id, product_type, identity_id, allocation_detail, toString(amount), provisional
       FROM chargebacks
       UNION ALL
       SELECT toString(day), 'attributions', cluster_resource_id, product_type, topic_name, toString(attribution_method), toString(amount), provisional
       FROM topic_attributions
     ) ORDER BY row`,
  );
  return rows.map(({ row }) => row);
}

t.test("an outage of all metrics does not recalculate unchanged days", async (t) => {
  const opened: Awaited<ReturnType<typeof startSwitch>>[] = [];
  const service = await startSimulatedService(t, {
    through: async (url, upstream) => {
      if (upstream === "bill") return url;
      const metrics = await startSwitch(t, url);
      opened.push(metrics);
      return metrics.url;
    },
    settings: { gather_failure_threshold: 100 },
  });
  const [metrics] = opened;
  const { stores, tenants } = service;
  const before = new Map<string, string[]>();
  for (const tenant of tenants) {
    t.strictSame(await service.run(tenant), { status: "completed", errors: [], published: days }, tenant);
    before.set(tenant, await charges(service, tenant));
    t.ok(
      before.get(tenant)?.some((row) => row.includes("usage_ratio_allocation")),
      `${tenant} is split by usage`,
    );
  }
  const [cloud] = tenants;
  const metricsOfPools = await runRows<{ metric: string }>(
    stores,
    cloud,
    "SELECT DISTINCT toString(metric) AS metric FROM usage WHERE startsWith(resource_id, 'lfcp-') ORDER BY metric",
  );
  t.strictSame(
    metricsOfPools.map(({ metric }) => metric),
    ["flink_cfu", "flink_cfu_minutes"],
    "there are pools with each of the two metrics",
  );

  // Only one tenant, because the others would wait for seconds between attempts at a closed port.
  const outages: readonly (readonly [Outage, readonly string[]])[] = [
    ["503", tenants],
    ["none", tenants],
    ["refused", [cloud]],
    ["empty", tenants],
    ["cfu_503", [cloud]],
    ["cfu_empty", [cloud]],
    ["none", tenants],
  ];
  for (const [outage, affected] of outages) {
    await t.test(`an outage of metrics (${outage}) changes no chargebacks`, async (t) => {
      await metrics?.set(outage);
      for (const tenant of affected) {
        t.strictSame((await service.run(tenant)).published, [], `${tenant}: no day is calculated again`);
        t.equal((await runRecords(stores, tenant)).at(-1)?.dates_calculated, 0, tenant);
        const now = await charges(service, tenant);
        const added = now.filter((row) => before.get(tenant)?.includes(row) !== true);
        t.strictSame(added, [], `${tenant}: chargebacks stay the same`);
        t.equal(now.length, before.get(tenant)?.length, tenant);
        const { off, staged } = await reconciled(stores, tenant);
        t.strictSame({ off, staged }, { off: [], staged: 0 }, tenant);
      }
      const provisional = await stores.postgres.query(
        `SELECT tracking_date FROM tracking_dates WHERE provisional
         UNION ALL SELECT tracking_date FROM topic_attribution_dates WHERE provisional`,
      );
      t.equal(provisional.rows.length, 0, "no day is provisional");
    });
  }
});
