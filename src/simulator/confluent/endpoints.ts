/** All routes of the vendor's APIs. */
import { SimulatedApiError } from "./api-error.js";
import { costsPage } from "./costs.js";
import { documents } from "./documents.js";
import { environmentOf, listEndpoint, present, type Route, route, type World } from "./endpoint.js";

const people = (world: World, kind: string) =>
  present(world, world.organisation.identities).filter((identity) => identity.kind === kind);

export const cloudRoutes: readonly Route[] = [
  route("/billing/v1/costs", (url, { organisation, bill }) => costsPage(url, bill, organisation.now())),
  route(
    "/org/v2/organizations",
    listEndpoint("org/v2", "OrganizationList", ({ organisation }) => [
      documents(organisation).organization(),
    ]),
  ),
  route(
    "/org/v2/environments",
    listEndpoint("org/v2", "EnvironmentList", (world) =>
      present(world, world.organisation.environments).map(documents(world.organisation).environment),
    ),
  ),
  route(
    "/cmk/v2/clusters",
    listEndpoint("cmk/v2", "ClusterList", (world, query) => {
      const environment = environmentOf(world, query);
      return present(world, world.organisation.clusters)
        .filter((cluster) => cluster.environment.id === environment)
        .map(documents(world.organisation).kafkaCluster);
    }),
  ),
  route(
    "/srcm/v3/clusters",
    listEndpoint("srcm/v3", "ClusterList", (world, query) => {
      const id = environmentOf(world, query);
      return present(world, world.organisation.environments)
        .filter((environment) => environment.id === id && !world.gone.has(environment.registry.id))
        .map(documents(world.organisation).registry);
    }),
  ),
  route(
    "/ksqldbcm/v2/clusters",
    listEndpoint("ksqldbcm/v2", "ClusterList", (world, query) => {
      const environment = environmentOf(world, query);
      return present(world, world.organisation.ksqldb)
        .filter(({ cluster }) => cluster.environment.id === environment)
        .map(documents(world.organisation).ksqlCluster);
    }),
  ),
  route("/connect/v1/environments/{environment}/clusters/{cluster}/connectors", connectors),
  route(
    "/fcpm/v2/compute-pools",
    listEndpoint("fcpm/v2", "ComputePoolList", (world, query) => {
      const environment = environmentOf(world, query);
      return present(world, world.organisation.pools)
        .filter((pool) => pool.environment.id === environment)
        .map(documents(world.organisation).pool);
    }),
  ),
  route(
    "/iam/v2/service-accounts",
    listEndpoint("iam/v2", "ServiceAccountList", (world) =>
      people(world, "service_account").map(documents(world.organisation).serviceAccount),
    ),
  ),
  route(
    "/iam/v2/users",
    listEndpoint("iam/v2", "UserList", (world) =>
      people(world, "user").map(documents(world.organisation).user),
    ),
  ),
  route(
    "/iam/v2/api-keys",
    listEndpoint("iam/v2", "ApiKeyList", (world) =>
      present(world, world.organisation.keys).map(documents(world.organisation).apiKey),
    ),
  ),
  route(
    "/iam/v2/identity-providers",
    listEndpoint("iam/v2", "IdentityProviderList", (world) =>
      present(world, world.organisation.providers).map(documents(world.organisation).provider),
    ),
  ),
  route(
    "/iam/v2/identity-providers/{provider}/identity-pools",
    listEndpoint("iam/v2", "IdentityPoolList", (world, _query, { provider }) => {
      if (!world.organisation.providers.some(({ id }) => id === provider)) throw missing("identity provider");
      return people(world, "identity_pool")
        .filter((pool) => pool.provider?.id === provider)
        .map(documents(world.organisation).identityPool);
    }),
  ),
];

/** Routes of the Flink API of one region. */
export function flinkRoutes(region: string): readonly Route[] {
  const statements = listEndpoint(
    "sql/v1",
    "StatementList",
    (world, query, { organization, environment }) => {
      const { organisation } = world;
      if (organization !== organisation.id) throw missing("organization");
      const pool = query.get("spec.compute_pool_id");
      return organisation.pools
        .filter((each) => each.environment.id === environment && each.region === region)
        .filter((each) => pool === null || each.id === pool)
        .flatMap((each) =>
          each.statements
            .filter(({ uid, created }) => created <= organisation.now() && !world.gone.has(uid))
            .map((statement) => documents(organisation).statement(each, statement)),
        );
    },
  );
  return [route("/sql/v1/organizations/{organization}/environments/{environment}/statements", statements)];
}

/** An object by connector name, without pages. 404 if the cluster has no Connect. */
function connectors(_url: URL, world: World, ids: Readonly<Record<string, string>>): { body: string } {
  const { organisation } = world;
  const cluster = present(world, organisation.clusters).find(
    ({ id, environment }) => id === ids.cluster && environment.id === ids.environment,
  );
  if (cluster === undefined || !cluster.hasConnect) throw missing("Connect cluster");
  const written = documents(organisation).connector;
  const own = present(world, organisation.connectors).filter((connector) => connector.cluster === cluster);
  return { body: JSON.stringify(Object.fromEntries(own.map((each) => [each.name, written(each)]))) };
}

function missing(what: string): SimulatedApiError {
  return new SimulatedApiError(404, "resource_not_found", `the ${what} does not exist`);
}
