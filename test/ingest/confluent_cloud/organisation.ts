/** A test server with an organisation of Confluent Cloud: paged lists, objects, and failures. */
import type { Test } from "tap";
import { upstream } from "../../upstream/upstream-server.js";

export interface TestOrganisation {
  readonly url: string;
  /** Items of a list, by path, with `?environment=…` if the list is filtered by environment. */
  readonly lists: Map<string, readonly unknown[]>;
  readonly objects: Map<string, unknown>;
  /** Path → status of every response. */
  readonly failing: Map<string, number>;
  /** Requested addresses. */
  readonly requested: URL[];
}

const PAGE = 2;

/** Statements are requested at `/flink/sql/…`, with the vendor's filter. */
export async function startOrganisation(t: Test, lists: Readonly<Record<string, readonly unknown[]>> = {}) {
  const requested: URL[] = [];
  const { url } = await upstream(t, (request, response) => {
    const address = new URL(request.url ?? "", url);
    requested.push(address);
    const failure = organisation.failing.get(address.pathname);
    if (failure !== undefined) {
      response.writeHead(failure).end(JSON.stringify({ errors: [{ detail: "the test says so" }] }));
      return;
    }
    const object = organisation.objects.get(address.pathname);
    if (object !== undefined) return void response.end(JSON.stringify(object));
    const items = itemsOf(organisation.lists, address);
    if (items === undefined) return void response.writeHead(404).end('{"errors":[{"detail":"not found"}]}');
    const from = Number(address.searchParams.get("page_token") ?? 0);
    const next =
      from + PAGE < items.length ? { next: `${url}${address.pathname}?page_token=${from + PAGE}` } : {};
    response.end(JSON.stringify({ metadata: next, data: items.slice(from, from + PAGE) }));
  });
  const organisation: TestOrganisation = {
    url,
    lists: new Map(Object.entries(lists)),
    objects: new Map(),
    failing: new Map(),
    requested,
  };
  return organisation;
}

function itemsOf(
  lists: TestOrganisation["lists"],
  { pathname, searchParams: query }: URL,
): readonly unknown[] | undefined {
  const environment = query.get("environment");
  const items = lists.get(environment === null ? pathname : `${pathname}?environment=${environment}`);
  const pool = query.get("spec.compute_pool_id");
  if (pool !== null) return items?.filter((item) => poolOf(item) === pool);
  const start = query.get("start_date");
  return start === null ? items : items?.filter((item) => isBilled(item, start, query.get("end_date") ?? ""));
}

function poolOf(item: unknown): unknown {
  return isObject(item) && isObject(item.spec) ? item.spec.compute_pool_id : undefined;
}

function isBilled(item: unknown, start: string, end: string): boolean {
  const day = isObject(item) ? String(item.start_date) : "";
  return day >= start && day < end;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

const created = (at: string) => ({ metadata: { created_at: at } });
const named = (kind: string, id: string) =>
  `crn://confluent.cloud/organization=0f1e/environment=env-77/${kind}=${id}`;

export const environment = (id: string) => ({
  id,
  display_name: `name of ${id}`,
  ...created("2026-01-01T00:00:00Z"),
});

export const cluster = (id: string, changes: Readonly<Record<string, unknown>> = {}) => ({
  id,
  metadata: { created_at: "2026-01-05T08:00:00Z", resource_name: named("cloud-cluster", id) },
  spec: {
    display_name: "orders",
    cloud: "AWS",
    region: "EU-West-1",
    kafka_bootstrap_endpoint: "SASL_SSL://pkc-1.eu-west-1.aws.confluent.cloud:9092",
    environment: { id: "env-77" },
    ...changes,
  },
});

export const connector = (id: string, config: Readonly<Record<string, unknown>>) => ({
  id: { id, id_type: "ID" },
  info: {
    name: id,
    type: "sink",
    config: { name: `name of ${id}`, "connector.class": "S3_SINK", ...config },
  },
  status: { connector: { state: "RUNNING" } },
});

export const pool = (id: string, region = "eu-west-1") => ({
  id,
  metadata: { resource_name: named("flink-compute-pool", id), created_at: "2026-01-01T00:00:00Z" },
  spec: { display_name: "pool", cloud: "AWS", region, max_cfu: 10, environment: { id: "env-77" } },
});

export const statement = (
  name: string,
  uid: string | undefined,
  spec: Readonly<Record<string, unknown>>,
  phase = "RUNNING",
) => ({
  name,
  metadata: { uid, created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-02T10:00:00Z" },
  spec: { statement: "INSERT …", stopped: false, ...spec },
  status: { phase },
});

export const apiKey = (id: string, owner: string | null, resource: unknown) => ({
  id,
  ...created("2026-01-06T09:00:00Z"),
  spec: { description: `key ${id}`, owner: owner === null ? null : { id: owner }, resource },
});

export const person = (id: string, fields: Readonly<Record<string, unknown>> = {}) => ({
  id,
  ...created("2026-01-01T00:00:00Z"),
  ...fields,
});

export const STATEMENTS = "/flink/sql/v1/organizations/0f1e/environments/env-77/statements";
export const connectorsOf = (id: string, env = "env-77") =>
  `/connect/v1/environments/${env}/clusters/${id}/connectors`;

/** An organisation with one object of each kind. */
export const small = {
  "/org/v2/environments": [environment("env-77"), environment("env-2"), environment("env-3")],
  "/cmk/v2/clusters?environment=env-77": [cluster("lkc-aa11"), cluster("lkc-b"), cluster("lkc-c")],
  "/cmk/v2/clusters?environment=env-2": [],
  "/cmk/v2/clusters?environment=env-3": [],
  ...Object.fromEntries(
    ["env-77", "env-2", "env-3"].flatMap((env) => [
      [`/srcm/v3/clusters?environment=${env}`, env === "env-77" ? [cluster("lsrc-b2")] : []],
      [
        `/ksqldbcm/v2/clusters?environment=${env}`,
        env === "env-77"
          ? [
              cluster("lksqlc-1", {
                credential_identity: { id: "sa-10" },
                kafka_cluster: { id: "lkc-b" },
                csu: 4,
              }),
            ]
          : [],
      ],
      [`/fcpm/v2/compute-pools?environment=${env}`, env === "env-77" ? [pool("lfcp-5"), pool("lfcp-6")] : []],
    ]),
  ),
  [STATEMENTS]: [
    statement("agg-orders", "7a7b", { compute_pool_id: "lfcp-5", principal: "sa-10" }),
    statement(
      "agg-sales",
      "8c8d",
      {
        compute_pool_id: "lfcp-6",
        principal: "crn://confluent.cloud/organization=0f1e/service-account=sa-11",
      },
      "COMPLETED",
    ),
    statement("old", undefined, { compute_pool_id: "lfcp-6", principal: null }, "FAILING"),
  ],
  "/iam/v2/service-accounts": [
    person("sa-10", { display_name: "orders", description: "d" }),
    person("sa-11"),
    person("sa-12"),
  ],
  "/iam/v2/users": [person("u-3", { full_name: "Ada", email: "ada@example.com" })],
  "/iam/v2/api-keys": [
    apiKey("KEY0001", "sa-10", { id: "lkc-aa11" }),
    apiKey("KEY0002", "u-3", null),
    apiKey("KEY0003", null, { id: "aws.eu-west-1", kind: "Region" }),
  ],
  "/iam/v2/identity-providers": [person("op-1", { display_name: "okta" })],
  "/iam/v2/identity-providers/op-1/identity-pools": [person("pool-1", { display_name: "apps" })],
} as const;
