/** Objects of the organisation in the JSON format of the vendor's APIs. */
import type { Connector } from "./connectors.js";
import type { ComputePool, FlinkStatement } from "./flink.js";
import type { ApiKey } from "./keys.js";
import type { SimulatedLifetime } from "./lifetime.js";
import type { ConfluentOrganisation } from "./organisation.js";
import type { SimulatedIdentity, SimulatedProvider } from "./people.js";
import type { KsqlCluster, SimulatedCluster, SimulatedEnvironment } from "./places.js";

type Described = Readonly<Record<string, unknown>>;

export function documents(organisation: ConfluentOrganisation) {
  const crn = (...segments: readonly string[]) =>
    ["crn://confluent.cloud", `organization=${organisation.id}`, ...segments].join("/");
  const within = ({ id }: SimulatedEnvironment, ...segments: readonly string[]) =>
    crn(`environment=${id}`, ...segments);
  const described = ({ created }: SimulatedLifetime, resource_name: string) => {
    const created_at = new Date(created).toISOString();
    return { metadata: { resource_name, created_at, updated_at: created_at } };
  };
  return {
    organization: (): Described => ({
      id: organisation.id,
      display_name: organisation.name,
      metadata: { resource_name: crn() },
    }),
    environment: (environment: SimulatedEnvironment): Described => ({
      id: environment.id,
      display_name: environment.name,
      ...described(environment, within(environment)),
    }),
    kafkaCluster: (cluster: SimulatedCluster): Described => ({
      id: cluster.id,
      ...described(cluster, within(cluster.environment, `cloud-cluster=${cluster.id}`)),
      spec: {
        display_name: cluster.name,
        availability: "MULTI_ZONE",
        cloud: cluster.cloud,
        region: cluster.region,
        config: { kind: cluster.kind[0] + cluster.kind.slice(1).toLowerCase() },
        kafka_bootstrap_endpoint: `SASL_SSL://pkc-${cluster.index}.${cluster.region}.confluent.cloud:9092`,
        environment: { id: cluster.environment.id },
      },
      status: { phase: "PROVISIONED" },
    }),
    registry: ({ registry, ...environment }: SimulatedEnvironment): Described => ({
      id: registry.id,
      ...described(registry, crn(`environment=${environment.id}`, `schema-registry=${registry.id}`)),
      spec: {
        display_name: registry.name,
        package: "ADVANCED",
        http_endpoint: `https://psrc-${registry.index}.us-east-1.aws.confluent.cloud`,
        cloud: "AWS",
        region: "us-east-1",
        environment: { id: environment.id },
      },
    }),
    ksqlCluster: ({ cluster, owner, ...ksql }: KsqlCluster): Described => ({
      id: ksql.id,
      ...described(ksql, within(cluster.environment, `ksql=${ksql.id}`)),
      spec: {
        display_name: ksql.name,
        csu: 4,
        kafka_cluster: { id: cluster.id },
        ...(owner === undefined ? {} : { credential_identity: { id: owner.id } }),
        environment: { id: cluster.environment.id },
      },
    }),
    /** One in nine connectors has no id, only a name. */
    connector: ({ id, index, name, custom, credentials }: Connector): Described => ({
      ...(index % 9 === 8 ? {} : { id: { id, id_type: "ID" } }),
      info: {
        name,
        type: "sink",
        config: { name, "connector.class": custom ? "com.example.Custom" : "S3_SINK", ...credentials },
      },
      status: { name, connector: { state: "RUNNING" }, tasks: [{ id: 0, state: "RUNNING" }] },
    }),
    pool: (pool: ComputePool): Described => ({
      id: pool.id,
      ...described(pool, within(pool.environment, `flink-region=${pool.region}`, `compute-pool=${pool.id}`)),
      spec: {
        display_name: pool.name,
        cloud: pool.cloud,
        region: pool.region,
        max_cfu: 10,
        environment: { id: pool.environment.id },
      },
      status: { phase: "PROVISIONED", current_cfu: 4 },
    }),
    statement: (pool: ComputePool, statement: FlinkStatement): Described => ({
      name: statement.name,
      organization_id: organisation.id,
      environment_id: pool.environment.id,
      metadata: { uid: statement.uid, created_at: new Date(statement.created).toISOString() },
      spec: {
        statement: "INSERT INTO sink SELECT * FROM source",
        compute_pool_id: pool.id,
        principal: statement.principal.id,
        stopped: statement.phase === "STOPPED",
      },
      status: { phase: statement.phase },
    }),
    serviceAccount: (identity: SimulatedIdentity): Described => ({
      id: identity.id,
      display_name: identity.name,
      description: `runs ${identity.name}`,
      ...described(identity, crn(`service-account=${identity.id}`)),
    }),
    user: (identity: SimulatedIdentity): Described => ({
      id: identity.id,
      full_name: identity.name,
      email: `${identity.id}@example.com`,
      ...described(identity, crn(`user=${identity.id}`)),
    }),
    apiKey: (key: ApiKey): Described => ({
      id: key.id,
      ...described(key, crn(`api-key=${key.id}`)),
      spec: {
        description: key.description,
        ...(key.owner === undefined ? {} : { owner: { id: key.owner.id } }),
        resource: key.resource,
      },
    }),
    provider: (provider: SimulatedProvider): Described => ({
      id: provider.id,
      display_name: provider.name,
      description: `single sign-on of ${provider.name}`,
      ...described(provider, crn(`identity-provider=${provider.id}`)),
    }),
    identityPool: (identity: SimulatedIdentity): Described => ({
      id: identity.id,
      display_name: identity.name,
      description: `tokens of ${identity.name}`,
      ...described(
        identity,
        crn(`identity-provider=${identity.provider?.id}`, `identity-pool=${identity.id}`),
      ),
    }),
  };
}
