/**
 * The inventory of a Confluent Cloud organisation, from a real HTTP server: the gathered entities, and the effects of
 * failures.
 */
import t, { type Test } from "tap";
import { crnValue, parseCrn } from "../../../src/ingest/ecosystems/confluent_cloud/crn.js";
import { principalId } from "../../../src/ingest/ecosystems/confluent_cloud/owners.js";
import { holds } from "../../holds.js";
import { forever } from "../generic_metrics_only/tenant.js";
import { recordingSink } from "../recording-sink.js";
import {
  connector,
  connectorsOf,
  environment,
  pool,
  STATEMENTS,
  small,
  startOrganisation,
  statement,
  type TestOrganisation,
} from "./organisation.js";
import { connectConfluentTenant } from "./tenant.js";

const RESOURCE_TYPES = [
  "environment",
  "kafka_cluster",
  "schema_registry",
  "ksqldb_cluster",
  "connector",
  "flink_compute_pool",
  "flink_statement",
];
const IDENTITY_TYPES = ["service_account", "user", "api_key", "identity_provider", "identity_pool"];

async function gathered(t: Test, organisation: TestOrganisation, regions: readonly string[] = ["eu-west-1"]) {
  const flink = regions.map((region_id) => ({
    region_id,
    key: "FLINKKEY",
    secret: "flink-secret",
    base_url: `${organisation.url}/flink`,
  }));
  const gatherer = connectConfluentTenant(t, organisation.url, { settings: { flink } });
  const sink = recordingSink();
  const report = await gatherer.gatherInventory(sink, forever);
  const resource = (id: string) => sink.recorded.resources.find(({ resource_id }) => resource_id === id);
  const identity = (id: string) => sink.recorded.identities.find(({ identity_id }) => identity_id === id);
  return { report, recorded: sink.recorded, resource, identity };
}

t.test("every list is gathered page by page, with all properties of its items", async (t) => {
  const organisation = await startOrganisation(t, small);
  organisation.objects.set(connectorsOf("lkc-aa11"), {
    "sink-one": connector("lcc-9x", {
      "kafka.auth.mode": "SERVICE_ACCOUNT",
      "kafka.service.account.id": "sa-10",
      "aws.secret.access.key": "not to be kept",
    }),
    "sink-two": connector("lcc-2", {
      "kafka.auth.mode": "KAFKA_API_KEY",
      "kafka.api.key": "****************",
    }),
    old: connector("lcc-3", { "kafka.api.key": "KEY0001" }),
    older: connector("lcc-4", { "kafka.service.account.id": "sa-11" }),
    bare: { info: { config: {} } },
  });
  const { report, recorded, resource, identity } = await gathered(t, organisation);
  t.same(report.errors, []);
  t.same(report.completeResourceTypes, RESOURCE_TYPES);
  t.same(report.completeIdentityTypes, IDENTITY_TYPES);
  t.same(
    recorded.identities.map(({ identity_id, identity_type }) => `${identity_type} ${identity_id}`).sort(),
    [
      "api_key KEY0001",
      "api_key KEY0002",
      "api_key KEY0003",
      "identity_pool pool-1",
      "identity_provider op-1",
      "service_account sa-10",
      "service_account sa-11",
      "service_account sa-12",
      "user u-3",
    ],
  );
  holds(t, identity("sa-10"), { display_name: "orders", metadata: { description: "d" } });
  holds(t, identity("u-3"), { display_name: "Ada", created_at: "2026-01-01T00:00:00.000Z" });
  holds(t, identity("KEY0001"), {
    display_name: "key KEY0001",
    created_at: "2026-01-06T09:00:00.000Z",
    metadata: { owner_id: "sa-10", resource_id: "lkc-aa11" },
  });
  holds(t, identity("KEY0002"), { metadata: { owner_id: "u-3", resource_id: null } });
  holds(t, identity("KEY0003"), { metadata: { owner_id: null, resource_id: "aws.eu-west-1" } });
  holds(t, identity("pool-1"), { metadata: { provider_id: "op-1" } });

  t.equal(recorded.resources.filter(({ resource_type }) => resource_type === "environment").length, 3);
  holds(t, resource("lkc-aa11"), {
    resource_type: "kafka_cluster",
    display_name: "orders",
    parent_id: "env-77",
    owner_id: null,
    created_at: "2026-01-05T08:00:00.000Z",
    metadata: {
      bootstrap_url: /^SASL_SSL:/,
      cloud: "aws",
      region: "eu-west-1",
      provider_cloud: "AWS",
      provider_region: "EU-West-1",
    },
  });
  holds(t, resource("lsrc-b2"), {
    resource_type: "schema_registry",
    metadata: { crn: /organization=0f1e/, region: "eu-west-1" },
  });
  holds(t, resource("lksqlc-1"), {
    resource_type: "ksqldb_cluster",
    owner_id: "sa-10",
    metadata: { kafka_cluster_id: "lkc-b", csu_count: 4 },
  });
  holds(t, resource("lcc-9x"), {
    resource_type: "connector",
    display_name: "name of lcc-9x",
    parent_id: "lkc-aa11",
    owner_id: "sa-10",
    created_at: null,
    metadata: {
      kafka_auth_mode: "SERVICE_ACCOUNT",
      kafka_service_account_id: "sa-10",
      connector_class: "S3_SINK",
      env_id: "env-77",
    },
  });
  t.notMatch(JSON.stringify(recorded), /not to be kept/, "credentials of other systems are not stored");
  holds(t, resource("lcc-2"), { owner_id: null, metadata: { kafka_auth_mode: "KAFKA_API_KEY" } });
  t.equal(
    resource("lcc-3")?.owner_id,
    identity("KEY0001")?.metadata.owner_id,
    "the owner of the connector is the owner of its key",
  );
  t.equal(resource("lcc-3")?.owner_id, "sa-10");
  holds(t, resource("lcc-3"), { metadata: { kafka_auth_mode: "KAFKA_API_KEY", kafka_api_key: "KEY0001" } });
  holds(t, resource("lcc-4"), { owner_id: "sa-11", metadata: { kafka_auth_mode: "SERVICE_ACCOUNT" } });
  holds(t, resource("bare"), { metadata: { kafka_auth_mode: "UNKNOWN" } });
  t.ok(organisation.requested.some(({ search }) => search.includes("expand=info%2Cstatus%2Cid")));
});

t.test("a statement belongs to the pool that it names, and to the principal of its CRN", async (t) => {
  const organisation = await startOrganisation(t, small);
  const { resource, recorded } = await gathered(t, organisation);
  holds(t, resource("7a7b"), {
    display_name: "agg-orders",
    parent_id: "env-77",
    owner_id: "sa-10",
    created_at: "2026-01-01T00:00:00.000Z",
    metadata: {
      statement_name: "agg-orders",
      compute_pool_id: "lfcp-5",
      is_stopped: false,
      stopped_at: null,
    },
  });
  holds(t, resource("8c8d"), {
    owner_id: "sa-11",
    metadata: { compute_pool_id: "lfcp-6", is_stopped: true, stopped_at: "2026-01-02T10:00:00.000Z" },
  });
  holds(t, resource("env-77/old@2026-01-01T00:00:00.000Z"), {
    owner_id: null,
    metadata: { phase: "FAILING", is_stopped: false },
  });
  t.equal(recorded.resources.filter(({ resource_type }) => resource_type === "flink_statement").length, 3);
  const pools = organisation.requested
    .filter(({ pathname }) => pathname === STATEMENTS)
    .map(({ searchParams }) => searchParams.get("spec.compute_pool_id"));
  t.same(new Set(pools), new Set(["lfcp-5", "lfcp-6"]), "statements are requested by pool");
});

t.test("a failed source prevents deletions only of its own types", async (t) => {
  const failures: readonly (readonly [string, readonly string[]])[] = [
    ["/srcm/v3/clusters", ["schema_registry"]],
    ["/ksqldbcm/v2/clusters", ["ksqldb_cluster"]],
    [connectorsOf("lkc-b"), ["connector"]],
    ["/fcpm/v2/compute-pools", ["flink_compute_pool", "flink_statement"]],
    [STATEMENTS, ["flink_statement"]],
    ["/iam/v2/service-accounts", ["service_account"]],
    ["/iam/v2/users", ["user"]],
    ["/iam/v2/api-keys", ["api_key"]],
    ["/iam/v2/identity-providers", ["identity_provider", "identity_pool"]],
    ["/iam/v2/identity-providers/op-1/identity-pools", ["identity_pool"]],
  ];
  const organisation = await startOrganisation(t, small);
  for (const [path, missing] of failures) {
    organisation.failing.clear();
    organisation.failing.set(path, 403);
    const { report } = await gathered(t, organisation);
    t.same(
      [...report.completeResourceTypes, ...report.completeIdentityTypes],
      [...RESOURCE_TYPES, ...IDENTITY_TYPES].filter((type) => !missing.includes(type)),
      path,
    );
    t.equal(report.errors.length, 1, `${path}: ${report.errors}`);
    t.match(report.errors[0], /the test says so/);
  }
  organisation.failing.clear();
  organisation.objects.set(connectorsOf("lkc-b"), { data: null });
  const nameless = (await gathered(t, organisation)).report;
  t.notOk(
    nameless.completeResourceTypes.includes("connector"),
    "without the list, connectors are not complete",
  );
  t.strictSame(nameless.errors, [
    "connectors: the response is not an object with an entry for each connector",
  ]);
  organisation.failing.set("/srcm/v3/clusters", 404);
  t.notOk(
    (await gathered(t, organisation)).report.completeResourceTypes.includes("schema_registry"),
    "a list that is 404 is not complete",
  );
});

t.test("without its environments or its clusters, the gathering of an organisation fails", async (t) => {
  const organisation = await startOrganisation(t, small);
  for (const path of ["/org/v2/environments", "/cmk/v2/clusters"]) {
    organisation.failing.clear();
    organisation.failing.set(path, 403);
    await t.rejects(gathered(t, organisation), { code: "unauthorized" }, path);
  }
});

t.test(
  "statements are known only of regions with a key, and their absence elsewhere deletes nothing",
  async (t) => {
    const organisation = await startOrganisation(t, small);
    const without = await gathered(t, organisation, []);
    t.same(without.report.errors, []);
    t.notOk(without.report.completeResourceTypes.includes("flink_statement"));
    holds(t, without.resource("lfcp-5"), { metadata: { is_allocatable: false } });
    t.notOk(organisation.requested.some(({ pathname }) => pathname === STATEMENTS));

    organisation.lists.set("/fcpm/v2/compute-pools?environment=env-77", [
      pool("lfcp-5", "EU-WEST-1"),
      pool("lfcp-6", "us-east-1"),
    ]);
    const one = await gathered(t, organisation);
    holds(t, one.resource("lfcp-5"), { metadata: { is_allocatable: true, region: "eu-west-1" } });
    holds(t, one.resource("lfcp-6"), { metadata: { is_allocatable: false } });
    t.ok(one.resource("7a7b"));
    t.notOk(one.resource("8c8d"));

    organisation.lists.set("/fcpm/v2/compute-pools?environment=env-77", [
      { id: "lfcp-5", spec: { cloud: "AWS", region: "eu-west-1" } },
    ]);
    const nameless = await gathered(t, organisation);
    holds(t, nameless.report.errors, [/lfcp-5 does not name its organisation/]);
    t.notOk(nameless.report.completeResourceTypes.includes("flink_statement"));
  },
);

t.test("items without an id, with invalid times and with fields of other types are handled", async (t) => {
  const organisation = await startOrganisation(t, small);
  organisation.lists.set("/iam/v2/users", [
    { full_name: "nobody" },
    { id: "u-1", full_name: 7, metadata: { created_at: "0001-01-01T00:00:00Z" } },
    { id: "u-2", metadata: { created_at: "yesterday" } },
    null,
    { id: "u-3", metadata: [] },
  ]);
  organisation.lists.set("/org/v2/environments", [environment("env-77")]);
  organisation.lists.set(STATEMENTS, [{ metadata: {} }, statement("s", "s1", { compute_pool_id: "lfcp-5" })]);
  const { report, recorded } = await gathered(t, organisation);
  t.same(report.errors, ["users: 2 failures, the first: the list has an item without an id"]);
  t.notOk(report.completeIdentityTypes.includes("user"));
  holds(
    t,
    recorded.identities.filter(({ identity_type }) => identity_type === "user"),
    ["u-1", "u-2", "u-3"].map((identity_id) => ({ identity_id, display_name: null, created_at: null })),
  );
});

t.test("an abort ends a gathering", async (t) => {
  const organisation = await startOrganisation(t, small);
  const gatherer = connectConfluentTenant(t, organisation.url);
  const giveUp = new AbortController();
  giveUp.abort(new Error("Execution timed out after 1 seconds"));
  await t.rejects(gatherer.gatherInventory(recordingSink(), giveUp.signal), /the request was cancelled/);
});

t.test(
  "a CRN is percent-decoded and split at the first `=`, its keys may repeat, and invalid parts are ignored",
  async (t) => {
    const crn = parseCrn(
      "crn://confluent.cloud/organization=0f/environment=env-1/topic=a%2Fb=c/x/=y/z=/kafka=1/kafka=2/p=%zz",
    );
    t.equal(crn?.authority, "confluent.cloud");
    t.equal(crnValue(crn, "topic"), "a/b=c");
    t.equal(crnValue(crn, "kafka"), "2");
    t.equal(crnValue(crn, "p"), "%zz");
    t.equal(crnValue(crn, "constructor"), undefined);
    t.equal(crn?.parts.length, 6);
    t.equal(parseCrn("sa-1"), undefined);
    t.equal(
      principalId("crn://confluent.cloud/organization=0f/identity-provider=op-1/identity-pool=pool-9"),
      "pool-9",
    );
    t.equal(principalId("crn://confluent.cloud/organization=0f/user=u%2D7"), "u-7");
    t.equal(principalId("crn://confluent.cloud/organization=0f"), null);
    t.equal(principalId("User:sa-1"), "sa-1");
    t.equal(principalId(null), null);
  },
);
