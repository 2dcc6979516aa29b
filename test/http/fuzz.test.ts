/**
 * Sends thousands of requests to the running service, drawn from its own description. FUZZ_RUNS is the number for each
 * operation, and FUZZ_SEED selects them. Both are printed, and the same two give the same requests.
 */
import { Agent } from "node:http";
import t from "tap";
import { createWorker } from "../../src/cli/worker.js";
import { type OperationAt, operationsOf } from "../../src/http/description/openapi-types.js";
import fc from "../property.js";
import { testLogger } from "../stores.js";
import { documentOf, judgeOf } from "./contract.js";
import { type HttpAnswer, sendFuzzed, shown } from "./fuzzing/client.js";
import { filled, fuzzTag, remember } from "./fuzzing/known-values.js";
import { type FuzzRequest, nextRequests, requestsOf } from "./fuzzing/requests.js";
import { startService } from "./service.js";

const runs = Number(process.env.FUZZ_RUNS ?? 30);
const seed = Number(
  process.env.FUZZ_SEED ??
    process.env.FC_SEED ??
    (process.env.FUZZ_RUNS === undefined ? 20260310 : Date.now() % 2 ** 31),
);
const slow = runs > 30;

/** This tenant takes uploads of usage. */
const UPLOADING = `  uploading:
    ecosystem: focus
    tenant_id: uploading
    storage: { connection_string: "embedded:uploading" }
    plugin_settings:
      usage: { uploads: { metrics: [gpu_hours] } }
      sources: [{ name: bills, location: /nowhere }]`;

t.test(`fuzz, FUZZ_SEED=${seed} FUZZ_RUNS=${runs}`, { timeout: slow ? 7_200_000 : 890_000 }, async (t) => {
  const cors = ["enable_cors: true", "cors_origins: ['https://console.example.org']"];
  // Runs use the clock of the machine, and rows that of the tests. Retention would drop the rows.
  const tenant = { tenant: ["retention_days: 730"], settings: ["emitters: [{type: prometheus}]"] };
  const fast = "rate_limit: { max_per_minute: 1000000 }";
  const service = await startService(t, [...cors, fast], tenant, [UPLOADING]);
  const { stores, config } = service;
  const ending = new AbortController();
  const worker = await createWorker({
    config,
    stores,
    logger: testLogger,
    observers: [],
    signal: ending.signal,
  });
  t.teardown(async () => {
    ending.abort(new Error("the test is over"));
    await worker.settled();
  });
  const known = await filled(service);
  const app = await service.build({ control: worker.control });
  const address = new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const document = documentOf(app);
  const judge = judgeOf(document);
  const counts = new Map<string, Map<number, number>>();

  const check = async (at: OperationAt, request: FuzzRequest, isNext = false): Promise<void> => {
    const faultsBefore = service.faults().length;
    const response = await sendFuzzed(address, agent, request);
    const statuses = counts.get(at.operation.operationId) ?? new Map<number, number>();
    counts.set(
      at.operation.operationId,
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1),
    );
    const wrong = [...service.faults().slice(faultsBefore)];
    // Readiness reports a slow store by its status. That happens on a busy machine, so only the contract is checked.
    const isUnready = at.operation.operationId === "getReadiness" && response.status === 503;
    if (!isUnready) wrong.push(...faultsOf(request, response));
    if (response.status >= 400 && !isUnready && request.method !== "HEAD")
      wrong.push(
        ...[judge({ operationId: undefined, ...response, body: response.json })].filter(
          (each) => each !== undefined,
        ),
      );
    if (wrong.length > 0) {
      const cause = JSON.stringify(service.log.findLast(({ level }) => Number(level) >= 50) ?? {}).slice(
        0,
        3000,
      );
      throw new Error([...wrong, shown(request), response.text.slice(0, 2000), cause].join("\n"));
    }
    remember(known, response);
    if (response.status === 200 && !isNext)
      for (const next of nextRequests(request, response)) await check(at, next, true);
  };

  for (const at of operationsOf(document)) {
    await t.test(`${at.method.toUpperCase()} ${at.path}`, async (t) => {
      const own =
        at.operation.operationId === "uploadUsage" ? { ...known, tenant_name: ["uploading"] } : known;
      const requests = requestsOf(at, document.components ?? {}, own);
      const property = fc.asyncProperty(requests, async (build) => {
        // Tags are added and removed. This one stays for later requests.
        if (at.path.includes("{tag_id}")) await fuzzTag(app, known);
        await check(at, build(own));
      });
      await fc.assert(property, { numRuns: runs, seed });
      const statuses = counts.get(at.operation.operationId) ?? new Map();
      t.comment(
        [...statuses]
          .sort(([a], [b]) => a - b)
          .map(([status, count]) => `${status}: ${count}`)
          .join(", "),
      );
      t.equal(
        [...statuses.keys()].some((status) => status < 300),
        !at.path.startsWith("/api/v1/tokens"),
        "every operation accepts some valid request, except those for tokens, which `auth: none` refuses",
      );
      t.equal(
        [...statuses.keys()].some((status) => status >= 400),
        at.path !== "/health",
        "every operation refuses some invalid request, except liveness, which never fails",
      );
    });
  }

  await t.test("the data is unchanged after all requests", async (t) => {
    const { client } = await stores.tenant("acme");
    const tables = await client.query({
      query: "SELECT count() AS n FROM system.tables WHERE database = currentDatabase()",
      format: "JSONEachRow",
    });
    t.ok(Number((await tables.json<{ n: string }>())[0]?.n) >= 10);
    t.equal(
      (await app.inject({ url: "/api/v1/tenants/acme/chargebacks?start_date=2026-03-01" })).statusCode,
      200,
    );
  });
});

/** The text is longer than any input that an error message may repeat. */
const LONG = 150;

function faultsOf(request: FuzzRequest, { status, text, type }: HttpAnswer): string[] {
  const faults: string[] = [];
  if (status >= 500) faults.push(`${status}: nothing that a client sends is the service's fault`);
  if (status < 400) return faults;
  if (type !== "application/problem+json") faults.push(`${status} as ${type}`);
  if (text.length > 20_000) faults.push(`an error of ${text.length} characters`);
  const parts = [
    ...decodeURIComponent(
      request.path.replaceAll(/%(?![0-9A-F]{2})/g, "%25").replaceAll(/%(?:[89A-F][0-9A-F])/g, "?"),
    ).split(/[/?&=]/),
    ...Object.values(request.headers),
    ...stringsIn(request.body),
  ];
  for (const part of parts)
    if (part.length > LONG && text.includes(part))
      faults.push(`the error repeats ${part.length} characters of the input`);
  if (/DB::Exception|node_modules|\n *at |syntax error at/.test(text))
    faults.push("the error shows what is inside");
  return faults;
}

function stringsIn(body: string | undefined): string[] {
  return [...(body ?? "").matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, inside = ""]) => inside);
}
