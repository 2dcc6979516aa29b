/**
 * Stores and upstreams that fail and echo the request in their errors: no secret of the configuration appears in any
 * output.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { programArguments } from "../../src/common/program.js";
import { freePort } from "../free-port.js";
import { temporaryFolder } from "../stores.js";
import { until } from "../until.js";

/** Part of every secret, with characters that URLs, JSON and YAML encode in other ways. */
const CANARY = "kanarek";
const secret = (name: string) => `${CANARY}/+&"é ${name}`;
const inAddress = (name: string) => encodeURIComponent(secret(name));

async function listening(t: Test, server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Refuses every request and echoes it: as it is, decoded, and in JSON. */
async function echoingHttp(t: Test): Promise<number> {
  const server = createHttpServer((request, response) => {
    const { authorization = "" } = request.headers;
    const credentials = Buffer.from(authorization.replace(/^\S+ /, ""), "base64").toString();
    const echoed = [credentials, authorization, request.url, decodeURIComponent(request.url ?? "")];
    const json = JSON.stringify({ headers: request.headers, credentials });
    response.writeHead(403, { "x-clickhouse-exception-code": "516", "content-type": "text/plain" });
    response.end(`Code: 516. DB::Exception: Authentication failed: ${echoed.join(" ")} ${json}`);
  });
  return await listening(t, server);
}

/** Implements enough of the Postgres protocol to request the password and to echo it in the error. */
async function echoingPostgres(t: Test): Promise<number> {
  const message = (type: string, body: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(body.length + 4);
    return Buffer.concat([Buffer.from(type), length, body]);
  };
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write(message("R", Buffer.from([0, 0, 0, 3])));
      socket.once("data", (sent) => {
        const password = sent.subarray(5, -1).toString();
        const echoed = `password "${password}" of postgres://u:${encodeURIComponent(password)}@h is wrong`;
        const fields = `SFATAL\0C28P01\0M${echoed}\0D${echoed}\0H${echoed}\0\0`;
        socket.end(message("E", Buffer.from(fields)));
      });
    });
  });
  return await listening(t, server);
}

/** Runs `chargehouse` and returns its output. */
function program(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child: ChildProcess = spawn(
    process.execPath,
    [...programArguments("../../src/main.js", import.meta.url), ...args],
    { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, NODE_OPTIONS: "", ...env } },
  );
  const written = { text: "" };
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      written.text += text;
    });
  const ended = once(child, "close").then(([code]) => Number(code));
  return { child, ended, written };
}

/** Also checks base64, which is how HTTP sends a password. */
function saysNoSecret(t: Test, text: string, name: string): void {
  t.notMatch(text, new RegExp(CANARY, "i"), name);
  const decoded = (text.match(/[A-Za-z0-9+/]{8,}/g) ?? []).map((each) =>
    Buffer.from(each, "base64").toString(),
  );
  t.strictSame(
    decoded.filter((each) => each.includes(CANARY)),
    [],
    `${name}, in base64`,
  );
}

const fixed = `
      cluster_id: c
      cost_types:
        - { name: A, product_category: c, rate: 1, cost_quantity: { type: fixed, count: 1 }, allocation_strategy: even_split }`;

t.test("a password that Postgres refuses and echoes is masked", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "chargehouse.yaml");
  const port = await echoingPostgres(t);
  const yaml = `
data_dir: ${folder}/data
postgres: { connection_string: "postgres://u:\${PASSWORD}@127.0.0.1:${port}/app" }
tenants:
  acme:
    ecosystem: generic_metrics_only
    tenant_id: acme
    storage: { connection_string: "clickhouse://u:p@127.0.0.1:9/acme" }
    plugin_settings:${fixed}
`;
  writeFileSync(file, yaml);
  for (const command of ["run", "reconcile", "migrate", "serve"]) {
    const { ended, written } = program([command, "--config", file], { PASSWORD: inAddress("postgres") });
    t.equal(await ended, 1, command);
    t.match(
      written.text,
      /password "\*\*\*" of postgres:\/\/u:\*\*\*@h is wrong/,
      `${command} says what happened`,
    );
    saysNoSecret(t, written.text, command);
  }
});

t.test("secrets that stores and upstreams refuse and echo are masked", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "chargehouse.yaml");
  const url = `http://127.0.0.1:${await echoingHttp(t)}`;
  const apiPort = await freePort();
  const quoted = (name: string) => JSON.stringify(secret(name));
  const yaml = `
data_dir: ${folder}/data
logging: { level: debug }
api: { port: ${apiPort} }
embedded: { sql_port: ${await freePort()}, sql_user: bi, sql_password: ${quoted("sql")} }
tenants:
  store:
    ecosystem: generic_metrics_only
    tenant_id: store
    storage: { connection_string: "${url.replace("http://", `clickhouse://u:${inAddress("storage")}@`)}/facts" }
    plugin_settings:${fixed}
  metrics:
    ecosystem: generic_metrics_only
    tenant_id: metrics
    lookback_days: 8
    gather_failure_threshold: 1
    storage: { connection_string: "embedded:metrics" }
    plugin_settings:
      cluster_id: c
      metrics: { url: "${url}", auth_type: basic, username: u, password: ${quoted("basic")} }
      identity_source: { source: prometheus, label: team, discovery_query: up }
      cost_types:
        - { name: A, product_category: c, rate: 1, cost_quantity: { type: fixed, count: 1 }, allocation_strategy: even_split }
  cloud:
    ecosystem: confluent_cloud
    tenant_id: cloud
    lookback_days: 8
    gather_failure_threshold: 1
    storage: { connection_string: "embedded:cloud" }
    plugin_settings:
      ccloud_api: { key: K, secret: ${quoted("cloud")}, base_url: "${url}" }
      metrics: { url: "${url}", auth_type: bearer, bearer_token: ${CANARY}-bearer }
      flink: [{ region_id: us-east-1, key: F, secret: ${quoted("flink")}, base_url: "${url}" }]
  bills:
    ecosystem: focus
    tenant_id: bills
    lookback_days: 8
    gather_failure_threshold: 1
    storage: { connection_string: "embedded:bills" }
    plugin_settings:
      sources:
        - { name: a, location: "${url}/a.csv", https: { auth_type: bearer, bearer_token: ${CANARY}-source } }
        - { name: b, location: "${url}/b.csv", https: { query: "sig=${inAddress("query")}" } }
        - name: c
          location: s3://bucket/c
          s3:
            { endpoint: "${url}", credentials: keys, access_key_id: K, secret_access_key: ${quoted("s3")}, session_token: ${CANARY}-session }
`;
  writeFileSync(file, yaml);
  const tenants = ["store", "metrics", "cloud", "bills"];

  const checked = program(["check-config", "--connect", "--config", file]);
  t.equal(await checked.ended, 1);
  t.match(checked.written.text, /FAILS/);
  saysNoSecret(t, checked.written.text, "check-config --connect");

  const service = program(["serve", "--config", file]);
  t.teardown(() => service.child.kill("SIGKILL"));
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${apiPort}${path}`);
    return `${JSON.stringify([...response.headers])} ${await response.text()}`;
  };
  const listens = () =>
    get("/api/v1/readiness").then(
      () => true,
      () => false,
    );
  await until("the service listens", async () => service.child.exitCode !== null || (await listens()));
  for (const tenant of tenants) {
    const runs = `/api/v1/tenants/${tenant}/pipeline/runs`;
    await until(`a run of ${tenant} has ended`, async () =>
      /"status":"(failed|completed_with_errors)"/.test(await get(runs)),
    );
    for (const path of ["runs", "status"].map((name) => `/api/v1/tenants/${tenant}/pipeline/${name}`))
      saysNoSecret(t, await get(path), path);
    const chargebacks = `/api/v1/tenants/${tenant}/chargebacks`;
    saysNoSecret(t, await get(chargebacks), chargebacks);
  }
  t.match(await get("/api/v1/tenants/metrics/pipeline/runs"), /403/, "the record has the reason");
  for (const path of ["/metrics", "/api/v1/readiness", "/api/v1/tenants"])
    saysNoSecret(t, await get(path), path);
  service.child.kill("SIGTERM");
  t.equal(await service.ended, 0);
  t.match(service.written.text, /Authentication failed/, "the log has the reason");
  saysNoSecret(t, service.written.text, "serve");

  for (const command of ["run", "reconcile", "migrate"]) {
    const { ended, written } = program([command, "--config", file]);
    t.equal(await ended, 1, command);
    t.match(written.text, /Authentication failed/, `${command} says what happened`);
    saysNoSecret(t, written.text, command);
  }
});
