/** `resource_source: admin_api`: brokers and topics from brokers that speak Kafka's own protocol. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { Admin } from "@platformatic/kafka";
import pino from "pino";
import t from "tap";
import { connectionOptions } from "../../../src/ingest/ecosystems/self_managed_kafka/kafka/connection-options.js";
import { describeCluster } from "../../../src/ingest/ecosystems/self_managed_kafka/kafka/describe-cluster.js";
import type { ResourceSource } from "../../../src/ingest/ecosystems/self_managed_kafka/resource-source.js";
import { holds } from "../../holds.js";
import { needs } from "../../programs.js";
import { temporaryFolder } from "../../stores.js";
import { forever } from "../generic_metrics_only/tenant.js";
import { startScriptedPrometheus } from "../prometheus/scripted-prometheus.js";
import { recordingSink } from "../recording-sink.js";
import { startBroker } from "./broker.js";
import { authority, brokerCertificate, brokerKey, clientCertificate, clientKey } from "./certificates.js";
import { startMockKafka } from "./mock-broker.js";
import { connectKafka } from "./tenant.js";

const admin = (bootstrap_servers: string, changes: Partial<ResourceSource> = {}): ResourceSource => ({
  source: "admin_api",
  bootstrap_servers,
  ...changes,
});

const wholeCluster = {
  clusterId: "the-cluster",
  topics: [
    { name: "orders", internal: false, partitions: 2 },
    { name: "__consumer_offsets", internal: true, partitions: 2 },
  ],
};
const topics = ["orders", "__consumer_offsets"];

const run = async (program: string, args: readonly string[]) =>
  (await promisify(execFile)(program, args, { timeout: 30_000 })).stdout;

t.test("the admin client works with librdkafka", needs("kcat"), async (t) => {
  await t.test("brokers and topics of librdkafka's mock cluster are read", async (t) => {
    const { servers } = await startMockKafka(t, { brokers: 3, topics: ["orders", "payments"] });
    const cluster = await describeCluster(admin(servers.join(",")), forever);
    t.match(cluster.clusterId, /^mockCluster/);
    const brokers = cluster.brokers.map(({ id, host, port }) => `${id} ${host}:${port}`);
    t.same(
      brokers.sort(),
      servers.map((server, index) => `${index + 1} ${server}`),
    );
    const names = cluster.topics.map(({ name }) => name);
    t.ok(names.includes("orders") && names.includes("payments"), `${names}`);

    await t.test("the inventory of a tenant is gathered", async (t) => {
      const prometheus = await startScriptedPrometheus(t, () => [
        { labels: { broker: "other", topic: "other", principal: "User:alice" }, at: () => 1 },
      ]);
      const lines: { msg: string }[] = [];
      const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
      const inventory = async (changes: Readonly<Record<string, unknown>> = {}) => {
        const resource_source = { source: "admin_api", bootstrap_servers: servers.join(","), ...changes };
        const gatherer = connectKafka(
          { metrics: { url: prometheus.url }, resource_source, broker_count: 4 },
          logger,
        );
        const sink = recordingSink();
        return { report: await gatherer.gatherInventory(sink, forever), recorded: sink.recorded };
      };
      const { report, recorded } = await inventory();
      holds(t, report, {
        completeResourceTypes: ["cluster", "broker", "topic"],
        completeIdentityTypes: ["principal"],
        errors: [],
      });
      t.equal(
        report.absenceGraceSeconds?.topic,
        undefined,
        "a topic that is not listed counts as deleted at once",
      );
      const byId = new Map(recorded.resources.map((resource) => [resource.resource_id, resource]));
      holds(t, byId.get("orders"), { metadata: { broker_count: 4, kafka_cluster_id: /^mockCluster/ } });
      holds(t, byId.get("orders:broker:2"), {
        resource_type: "broker",
        display_name: servers[1],
        parent_id: "orders",
        metadata: { cluster_id: "orders", broker_id: 2 },
      });
      holds(t, byId.get("orders:topic:payments"), { resource_type: "topic", display_name: "payments" });
      t.notOk(byId.has("orders:topic:other"), "the inventory has nothing from metrics");
      holds(t, recorded.identities, [{ identity_id: "User:alice" }]);
      holds(t, lines, [{ msg: /number of brokers differs from broker_count/ }]);

      const other = await inventory({ kafka_cluster_id: "another" });
      holds(t, other.report.errors, [/the Kafka admin API failed: .*but kafka_cluster_id is another/]);
      holds(t, other.report, { completeResourceTypes: ["cluster"], completeIdentityTypes: ["principal"] });
      t.same(
        other.recorded.resources.map(({ resource_type }) => resource_type),
        ["cluster"],
      );
    });

    await t.test("a dead bootstrap server is skipped", async (t) => {
      const dead = await deadServer();
      const found = await describeCluster(admin(`${dead},${servers[0]}`), forever);
      t.equal(found.brokers.length, 3);
      await t.rejects(describeCluster(admin(`${dead},${dead}`), forever), {
        code: "unreachable",
        message: /no bootstrap server responds: .*ECONNREFUSED.*; .*ECONNREFUSED/,
      });
    });
  });

  await t.test("librdkafka can talk to the broker of these tests, including SCRAM and TLS", async (t) => {
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, "ca.pem"), authority);
    const sasl = { mechanism: "SCRAM-SHA-256", username: "metrics", password: "hunter2!" };
    const tls = { cert: brokerCertificate, key: brokerKey };
    const broker = await startBroker(t, { topics, tls, sasl });
    // It runs in its own process, because the broker responds from this one.
    const listed = await run("kcat", [
      "-L",
      "-J",
      "-b",
      broker.server,
      "-X",
      "security.protocol=SASL_SSL",
      "-X",
      `ssl.ca.location=${join(folder, "ca.pem")}`,
      "-X",
      `sasl.mechanism=${sasl.mechanism}`,
      "-X",
      `sasl.username=${sasl.username}`,
      "-X",
      `sasl.password=${sasl.password}`,
    ]);
    holds(t, JSON.parse(listed), {
      brokers: [{ id: 7, name: broker.server }],
      topics: [
        { topic: "orders", partitions: [{ leader: 7 }, { leader: -1 }] },
        { topic: "__consumer_offsets" },
      ],
    });
  });
});

t.test("every version of the metadata that brokers of the last ten years support is read", async (t) => {
  for (const [metadata, used] of [
    [[0, 2], 2],
    [[0, 5], 5],
    [[0, 7], 7],
    [[0, 8], 8],
    [[0, 9], 9],
    [[4, 12], 12],
    [[4, 13], 12],
  ] as const) {
    const broker = await startBroker(t, { metadata, topics });
    holds(t, await describeCluster(admin(broker.server), forever), {
      ...wholeCluster,
      brokers: [{ id: 7, host: "127.0.0.1", port: broker.port, rack: "rack-a" }],
    });
    t.same(broker.requests, [
      [18, 0],
      [3, used],
    ]);
  }
  for (const metadata of [
    [0, 1],
    [13, 14],
  ] as const) {
    const broker = await startBroker(t, { metadata });
    await t.rejects(describeCluster(admin(broker.server), forever), {
      code: "bad_body",
      message: /speaks versions \d+ to \d+ of the metadata request, and 2 to 12 are known/,
    });
  }
});

t.test("another client reads the same topics from the broker of these tests", async (t) => {
  const broker = await startBroker(t, { topics });
  const other = new Admin({ clientId: "test", bootstrapBrokers: [broker.server], retries: 0 });
  t.teardown(() => other.close());
  // It fails on the partition without a leader, which shows that it has read that far.
  const failure = await other.listTopics({ includeInternals: true }).catch((error: unknown) => error);
  holds(t, failure, {
    response: { clusterId: "the-cluster", topics: [{ name: "orders" }, { name: "__consumer_offsets" }] },
  });
});

t.test("each SASL mechanism accepts the right password, and no other", async (t) => {
  for (const mechanism of ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] as const) {
    const sasl = { mechanism, username: "metrics", password: "hunter2!" };
    const broker = await startBroker(t, { topics, sasl });
    const source = (sasl_password: string): ResourceSource =>
      admin(broker.server, {
        security_protocol: "SASL_PLAINTEXT",
        sasl_mechanism: mechanism,
        sasl_username: "metrics",
        sasl_password,
      });
    holds(t, await describeCluster(source("hunter2!"), forever), wholeCluster, mechanism);
    const refused = await describeCluster(source("wrong-secret"), forever).catch((error) => error);
    holds(t, refused, { code: "unauthorized", message: /SASL authentication failed/ }, mechanism);
    t.notMatch(String(refused), /wrong-secret/);
  }
  const plain = { mechanism: "PLAIN", username: "metrics", password: "x" };
  const other = await startBroker(t, { sasl: plain });
  const source = { security_protocol: "SASL_PLAINTEXT", sasl_mechanism: "SCRAM-SHA-256" } as const;
  await t.rejects(
    describeCluster(admin(other.server, { ...source, sasl_username: "a", sasl_password: "b" }), forever),
    { code: "unauthorized", message: /Cannot find a suitable SASL mechanism/ },
  );
  await t.rejects(describeCluster(admin(other.server), forever), { code: "unreachable", message: /closed/ });
});

t.test("with TLS, the certificate and its name are checked, and the client's own is sent", async (t) => {
  const folder = temporaryFolder(t);
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const ca = { security_protocol: "SSL", ssl_ca_file: file("ca.pem", authority) } as const;
  const pair = {
    ssl_certificate_file: file("client.pem", clientCertificate),
    ssl_key_file: file("client.key", clientKey),
  };
  const tls = { cert: brokerCertificate, key: brokerKey };
  const broker = await startBroker(t, { topics, tls });
  holds(
    t,
    await describeCluster(admin(broker.server, ca), forever),
    wholeCluster,
    "the server is named by its address",
  );
  holds(
    t,
    await describeCluster(admin(`localhost:${broker.port}`, ca), forever),
    wholeCluster,
    "the server is named by its host name",
  );
  await t.rejects(describeCluster(admin(broker.server, { security_protocol: "SSL" }), forever), {
    code: "unreachable",
    message: /certificate/,
  });
  const nameless = await startBroker(t, { tls: { cert: clientCertificate, key: clientKey } });
  await t.rejects(describeCluster(admin(nameless.server, ca), forever), {
    code: "unreachable",
    message: /does not match certificate/,
  });
  await t.rejects(describeCluster(admin(broker.server, { ...ca, ssl_ca_file: "/nowhere/ca.pem" }), forever), {
    code: "unreachable",
    message: /ENOENT.*ca\.pem/,
  });

  const mutual = await startBroker(t, { topics, tls: { ...tls, requestCert: true, ca: authority } });
  holds(t, await describeCluster(admin(mutual.server, { ...ca, ...pair }), forever), wholeCluster);
  await t.rejects(describeCluster(admin(mutual.server, ca), forever), { code: "unreachable" });

  const sasl = { mechanism: "SCRAM-SHA-512", username: "metrics", password: "hunter2!" };
  const both = await startBroker(t, { topics, tls, sasl });
  const source: Partial<ResourceSource> = {
    ...ca,
    security_protocol: "SASL_SSL",
    sasl_mechanism: "SCRAM-SHA-512",
    sasl_username: sasl.username,
    sasl_password: sasl.password,
  };
  holds(t, await describeCluster(admin(both.server, source), forever), wholeCluster);
  holds(t, await connectionOptions(admin(both.server, source)), {
    tls: { ca: Buffer.from(authority) },
    sasl: { mechanism: "SCRAM-SHA-512", username: "metrics", password: "hunter2!" },
  });
  t.notOk("tls" in (await connectionOptions(admin(both.server))), "PLAINTEXT is the default");
});

t.test("a server that never responds is abandoned when the run is aborted", async (t) => {
  const giveUp = new AbortController();
  const broker = await startBroker(t, { mute: () => giveUp.abort() });
  await t.rejects(describeCluster(admin(broker.server), giveUp.signal), { code: "aborted" });
  const http = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  t.teardown(() => http.close());
  const address = http.address();
  const port = typeof address === "object" ? address?.port : undefined;
  await t.rejects(describeCluster(admin(`127.0.0.1:${port}`), forever), { code: "unreachable" });
});

/** A port that was free a moment ago. */
async function deadServer(): Promise<string> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return `127.0.0.1:${typeof address === "object" ? address?.port : 1}`;
}
