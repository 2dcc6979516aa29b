import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import t from "tap";
import { createServiceMetrics } from "../../src/http/metrics.js";
import { type AdmissionLimits, createAdmission, type Load } from "../../src/http/plugins/admission.js";
import { holds } from "../holds.js";
import { insertManyChargebacks, startService } from "./service.js";
import { eventually } from "./store-processes.js";

const never = new AbortController().signal;

function admission(limits: Partial<AdmissionLimits>) {
  const loads: Load[] = [];
  const { enter, isWanted } = createAdmission(
    { running: 4, waiting: 8, maxWaitMs: 60_000, shared: true, ...limits },
    (load) => loads.push(load),
  );
  return { enter, isWanted, load: () => loads.at(-1) };
}

t.test(
  "reads beyond the running limit wait in the queue, and reads beyond its length are refused",
  async (t) => {
    const { enter, load } = admission({ running: 2, waiting: 2, shared: false });
    t.same(load(), { running: 0, waiting: 0 });
    const [one, two] = [await enter("a", never), await enter("a", never)];
    const order: string[] = [];
    const third = enter("a", never).then((leave) => [order.push("third"), leave] as const);
    const fourth = enter("a", never).then((leave) => [order.push("fourth"), leave] as const);
    t.same(load(), { running: 2, waiting: 2 });
    await t.rejects(enter("a", never), { name: "TooBusyError" });
    one();
    one();
    t.same(
      load(),
      { running: 2, waiting: 1 },
      "a slot is released once, even if it is released several times",
    );
    two();
    await Promise.all([third, fourth]);
    t.same(order, ["third", "fourth"], "reads start in the order in which they came");
    for (const [, leave] of await Promise.all([third, fourth])) leave();
    t.same(load(), { running: 0, waiting: 0 });
  },
);

t.test("one tenant cannot take all slots, nor the whole queue", async (t) => {
  const { enter, load } = admission({ running: 4, waiting: 4 });
  for (let time = 0; time < 3; time += 1) await enter("greedy", never);
  const end = new AbortController();
  const waiting = [1, 2, 3].map(() => enter("greedy", end.signal));
  t.same(load(), { running: 3, waiting: 3 });
  await t.rejects(enter("greedy", never), { name: "TooBusyError" });
  const leave = await enter("modest", never);
  t.same(load(), { running: 4, waiting: 3 }, "the free slot goes to another tenant");
  const patient = enter("modest", never);
  t.same(load(), { running: 4, waiting: 4 }, "the free position in the queue goes to another tenant");
  await t.rejects(enter("late", never), { name: "TooBusyError" }, "a full queue refuses every tenant");
  leave();
  const freed = await patient;
  t.same(load(), { running: 4, waiting: 3 });
  freed();
  t.same(load(), { running: 3, waiting: 3 }, "a tenant with its full share waits although a slot is free");
  end.abort(new Error("the end"));
  for (const each of waiting) await t.rejects(each, { message: "the end" });
});

t.test(
  "the next read is of the tenant with the fewest running reads, and the oldest of its reads",
  async (t) => {
    const { enter } = admission({ running: 4 });
    const [first, second] = [await enter("a", never), await enter("a", never), await enter("a", never)];
    const third = await enter("b", never);
    const order: string[] = [];
    const note = (name: string) => enter(name, never).then(() => order.push(name));
    const all = [note("a"), note("b"), note("c")];
    first();
    await all[2];
    second();
    await all[0];
    third();
    await Promise.all(all);
    t.same(order, ["c", "a", "b"]);
  },
);

t.test("a single slot is not shared, and no read waits without a queue", async (t) => {
  const { enter, load } = admission({ running: 1, waiting: 0 });
  const leave = await enter("a", never);
  await t.rejects(enter("b", never), { name: "TooBusyError" });
  leave();
  (await enter("b", never))();
  t.same(load(), { running: 0, waiting: 0 });
});

t.test("a read that is aborted or has waited too long leaves the queue", async (t) => {
  const { enter, load } = admission({ running: 1, maxWaitMs: 50 });
  const leave = await enter("a", never);
  const gone = new AbortController();
  const left = enter("b", gone.signal);
  t.same(load(), { running: 1, waiting: 1 });
  gone.abort(new Error("left"));
  await t.rejects(left, { message: "left" });
  t.same(load(), { running: 1, waiting: 0 });
  await t.rejects(
    enter("b", gone.signal),
    { message: "left" },
    "a read that was aborted before does not enter the queue",
  );
  await t.rejects(enter("b", never), { name: "TooBusyError" });
  t.same(load(), { running: 1, waiting: 0 });
  leave();
  t.same(load(), { running: 0, waiting: 0 }, "a read that left the queue gets no slot");
});

t.test("a slot is wanted if a read in the queue could use it", async (t) => {
  const { enter, isWanted } = admission({ running: 4 });
  const end = new AbortController();
  for (let time = 0; time < 3; time += 1) await enter("greedy", never);
  const leave = await enter("modest", never);
  t.strictSame([isWanted("greedy"), isWanted("modest")], [false, false], "no read waits");
  const waiting = [enter("greedy", end.signal)];
  t.strictSame(
    [isWanted("greedy"), isWanted("modest")],
    [true, false],
    "a read that waits for its own tenant's share does not want the slot",
  );
  waiting.push(enter("modest", end.signal));
  t.strictSame([isWanted("greedy"), isWanted("modest")], [true, true]);
  end.abort(new Error("the end"));
  for (const each of waiting) await t.rejects(each, { message: "the end" });
  leave();
});

t.test("the service limits its heavy reads", async (t) => {
  const metrics = createServiceMetrics();
  const service = await startService(t, ["max_heavy_reads: 3", "max_waiting_reads: 2"]);
  const app = await service.build({ metrics });
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  for (const tenant of ["acme", "globex"]) {
    await insertManyChargebacks(service.stores, tenant, { rows: 200_000, days: 5, identities: 9 });
  }
  const api = (tenant: string, path: string) => `${address}/api/v1/tenants/${tenant}/${path}`;
  /** 200 MB are far more than the sockets buffer, so the response lasts until somebody reads it. */
  const beginExport = async (of = address): Promise<IncomingMessage> => {
    const sent = request(`${of}/api/v1/tenants/acme/export`, {
      method: "POST",
      agent: false,
      headers: { "content-type": "application/json" },
    });
    sent.on("error", () => undefined);
    sent.end(JSON.stringify({ columns: Array.from({ length: 50 }, () => "allocation_detail") }));
    const [response] = await once(sent, "response");
    response.on("error", () => undefined);
    return response;
  };
  const load = async () => {
    const values = (await metrics.heavyReads.get()).values.map(({ labels, value }) => [labels.state, value]);
    return Object.fromEntries(values);
  };
  const loaded = (running: number, waiting: number) =>
    eventually(`${running} running, ${waiting} waiting`, async () => {
      const now = await load();
      return now.running === running && now.waiting === waiting;
    });
  const aggregate = api("acme", "chargebacks/aggregate");
  const known = (await fetch(aggregate)).headers.get("etag") ?? "";
  await loaded(0, 0);

  const exports = [await beginExport(), await beginExport()];
  await loaded(2, 0);

  await t.test("a tenant that uses its share waits, and others are served", async (t) => {
    const client = new AbortController();
    const waiting = fetch(aggregate, { signal: client.signal });
    await loaded(2, 1);
    t.equal((await fetch(api("globex", "chargebacks/aggregate"))).status, 200);
    t.equal((await fetch(api("globex", "chargebacks/allocation-issues"))).status, 200);

    await t.test("an aborted request leaves the queue", async (t) => {
      client.abort();
      await t.rejects(waiting, { name: "AbortError" });
      await loaded(2, 0);
      t.pass("nobody waits any more");
    });
  });

  await t.test("light reads and 304 responses do not wait for a slot", async (t) => {
    for (const path of [
      "chargebacks",
      "chargebacks?page=1000",
      "billing",
      "tags",
      "resources",
      "pipeline/status",
    ])
      t.equal((await fetch(api("acme", path))).status, 200, path);
    for (const path of ["/health", "/metrics", "/api/v1/tenants", "/api/v1/readiness"])
      t.equal((await fetch(address + path)).status, 200, path);
    t.equal((await fetch(aggregate, { headers: { "if-none-match": known } })).status, 304);
    t.same(await load(), { running: 2, waiting: 0 });
  });

  await t.test("a read without a slot gets 503 with Retry-After, and no error is logged", async (t) => {
    const hurried = await service.build({
      config: {
        ...service.config,
        api: { ...service.config.api, max_heavy_reads: 1, max_waiting_reads: 0 },
      },
    });
    const full = await hurried.listen({ host: "127.0.0.1", port: 0 });
    const held = await beginExport(full);
    const filter = { tag_key: "k", display_name: "d", created_by: "c", override_existing: false };
    const post = (body: object) => ({
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    for (const [path, init] of [
      ["chargebacks/aggregate", {}],
      ["chargebacks/aggregate", { method: "HEAD" }],
      ["chargebacks/allocation-issues", {}],
      ["chargebacks?tag%3Ateam=blue", {}],
      ["topic-attributions/aggregate", {}],
      ["export", post({})],
      ["tags/bulk-by-filter", post(filter)],
    ] as const) {
      const response = await fetch(`${full}/api/v1/tenants/acme/${path}`, init);
      t.equal(response.status, 503, path);
      t.equal(response.headers.get("retry-after"), "5");
      if ("method" in init && init.method === "HEAD") continue;
      const problem: Record<string, unknown> = JSON.parse(await response.text());
      holds(t, problem, { code: "too_busy", title: "Too busy", detail: /max_heavy_reads/ });
      t.notOk("error_id" in problem);
    }
    t.equal((await fetch(`${full}/api/v1/tenants/acme/chargebacks`)).status, 200);
    t.same(
      service.log.filter(({ level }) => Number(level) >= 50),
      [],
    );
    held.destroy();
    await eventually("the place is free", async () => {
      const response = await fetch(`${full}/api/v1/tenants/acme/chargebacks/aggregate`);
      await response.arrayBuffer();
      return response.status === 200;
    });
  });

  await t.test("a read that has waited for half of the request timeout gets 503", async (t) => {
    const hasty = await service.build({
      config: {
        ...service.config,
        api: { ...service.config.api, max_heavy_reads: 1, request_timeout_seconds: 2 },
      },
    });
    const address = await hasty.listen({ host: "127.0.0.1", port: 0 });
    const held = await beginExport(address);
    const response = await fetch(`${address}/api/v1/tenants/globex/chargebacks/aggregate`);
    t.equal(response.status, 503);
    holds(t, await response.json(), { code: "too_busy" });
    held.destroy();
  });

  await t.test("an export keeps its slot until its last byte is sent or it is aborted", async (t) => {
    const [abandoned, read] = exports;
    const waiting = fetch(aggregate);
    await loaded(2, 1);
    abandoned?.destroy();
    const response = await waiting;
    t.equal(response.status, 200, "the slot went to the read that waited");
    holds(t, await response.json(), { total_rows: 200_000 });
    await loaded(1, 0);
    let bytes = 0;
    for await (const chunk of read ?? []) bytes += chunk.length;
    t.ok(bytes > 100_000_000);
    await loaded(0, 0);
  });

  await t.test("/metrics shows running and waiting heavy reads", async (t) => {
    const text = await (await fetch(`${address}/metrics`)).text();
    t.match(text, /^chargehouse_heavy_reads\{state="running"\} 0$/m);
    t.match(text, /^chargehouse_heavy_reads\{state="waiting"\} 0$/m);
  });
});
