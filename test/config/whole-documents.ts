/** Valid configurations that together contain every key, as JSON, which is also YAML. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonMapping = { readonly [key: string]: Json };

const tenant = (ecosystem: string, plugin_settings: JsonMapping, more: JsonMapping = {}): JsonMapping => ({
  tenants: {
    acme: {
      ecosystem,
      tenant_id: "acme-1",
      storage: { connection_string: "embedded:acme" },
      plugin_settings,
      ...more,
    },
  },
});

const prometheus = { type: "prometheus", url: "http://127.0.0.1:9090" };
const s3 = {
  region: "eu-west-1",
  endpoint: "http://127.0.0.1:9000",
  path_style: true,
  credentials: "keys",
  access_key_id: "an id",
  secret_access_key: "a secret key",
  session_token: "a token",
};

const conditions = {
  ServiceName: { not: ["tax"], matches: "^Amazon", exists: true },
  BilledCost: { above: "0.5", below: "100" },
};

const measured = [
  { by: "line" },
  { by: "usage", metrics: ["gpu_hours"] },
  { by: "usage", metric: "gpu_hours" },
  { by: "cost", of: "allocated", within: "RegionId", over: "month", exclude: ["idle", "kube-*"] },
];
const days = { valid_from: "2026-01-01", valid_to: "2026-12-31" };
/** Chains of tiers that end in each of the splits that take everything. */
const chains = [
  [...measured, { by: "fixed", ...days, shares: { ann: "1", bob: "2.5" } }],
  [{ by: "cost", of: "direct", over: "day" }, { by: "nobody" }],
  [{ by: "even", among: ["ann", "bob"] }],
];

const focus = tenant("focus", {
  metrics: { ...prometheus, auth_type: "basic", username: "me", password: "a password" },
  metrics_step_seconds: 3600,
  min_refresh_gap_seconds: 1800,
  chargeback_granularity: "daily",
  sources: [
    {
      name: "aws",
      location: "s3://bills/aws",
      layout: "aws_data_exports",
      exclude: ["**/*-draft.csv"],
      overlap: "add",
      s3,
      limits: { max_files: 1000, max_file_mib: 100, max_unpacked_mib: 1000, settle_seconds: 5 },
    },
    {
      name: "saas",
      location: "https://example.org/bill.csv",
      layout: "plain",
      delivery: "snapshot",
      https: { auth_type: "basic", username: "me", password: "a password", query: "sig=abc" },
    },
    {
      name: "other",
      location: "https://example.org/other.csv",
      layout: "plain",
      https: { auth_type: "bearer", bearer_token: "a token" },
    },
  ],
  columns: [
    "x_CostCenter",
    { name: "model", path: "SkuPriceDetails.ModelId" },
    { name: "app", path: ["AllocatedTags", "app.kubernetes.io/name"] },
  ],
  cost: "effective",
  spread: "daily",
  currency: "EUR",
  usage: {
    uploads: { metrics: ["gpu_hours"], folder: "/var/uploads", settle_seconds: 60, max_mib: 64 },
    queries: [
      {
        metric: "requests",
        query: "sum by (team, id) (increase(requests_total[$step]))",
        identity_label: "team",
        resource_label: "id",
        ignore_case: true,
      },
      { metric: "bytes", query: "sum by (team) (bytes)", identity_label: "team", resource_id: "db" },
    ],
    preset: "kubernetes",
    kubernetes: {
      metric_selector: 'cluster="prod"',
      namespace_label: "label_team",
      gib_per_core: "7.5",
      idle: "spread",
      aws_arn: "arn:aws:ec2:eu-west-1:123456789012",
    },
  },
  precedence: ["aws", "saas/*"],
  shrink_limit_percent: 50,
});

const sources = [{ name: "bills", location: "https://example.org/bill.csv", layout: "plain" }];

const tenantKeys = tenant(
  "focus",
  { sources },
  {
    lookback_days: 200,
    cutoff_days: 5,
    retention_days: 250,
    allocation_retry_limit: 3,
    gather_failure_threshold: 5,
    zero_gather_deletion_threshold: -1,
    tenant_execution_timeout_seconds: 3600,
    metrics_prefetch_workers: 4,
    topic_attribution_retry_limit: 3,
    identity_to_team: { ann: "search" },
    allocation: {
      decimal_places: 4,
      identity: [
        { assigned: "resource_id" },
        { tag: "team", ignore_case: true },
        { column: "resource_id", pattern: "^(?<identity>[a-z]+)-" },
        { column: "resource_id", map: "owners.csv" },
      ],
    },
  },
);

const ruled = (...rules: readonly Json[]) =>
  tenant(
    "focus",
    { sources, usage: { uploads: { metrics: ["gpu_hours"], folder: "/var/uploads" } } },
    { allocation: { rules } },
  );

const nobody = [{ by: "nobody" }];

const passing = tenant(
  "focus",
  { sources },
  {
    allocation: {
      pass_on: [
        { name: "idle", ...days, from: ["idle", "kube-*"], where: { ServiceName: "EC2" }, split: nobody },
        { name: "rest", from: ["UNALLOCATED"], split: [{ by: "cost", within: "resource_id" }] },
      ],
    },
  },
);

const rules = ruled(
  { name: "any", where: { any: [conditions], ...conditions }, split: nobody },
  { name: "kept", ...days, where: { ServiceName: ["a", "b"] }, allocation: "keep" },
  {
    name: "parts",
    components: [
      { ratio: "0.7", split: nobody },
      { ratio: "0.3", split: nobody },
    ],
  },
);

const ways = ruled(
  ...chains.map((split, index) => ({
    name: `chain-${index}`,
    where: { RegionId: `eu-${index}` },
    split,
    ...(index === 0 && { stage: 2 }),
  })),
);

const emitters = tenant("focus", {
  sources,
  emitters: [
    {
      type: "csv",
      name: "files",
      lookback_days: 30,
      aggregation: "daily",
      pipelines: ["chargeback"],
      params: {
        output_dir: "out",
        filename_template: "{tenant_id}_{pipeline}_{date}.csv",
        raw: false,
        provisional: "mark",
      },
    },
    {
      type: "focus",
      name: "datasets",
      lookback_days: 60,
      params: {
        location: "s3://bucket/prefix",
        format: "csv.gz",
        focus_version: "1.4",
        provisional: "wait",
        s3,
      },
    },
    {
      type: "prometheus",
      name: "page",
      lookback_days: 60,
      aggregation: "daily",
      pipelines: ["billing"],
      params: { days: 3, provisional: "wait" },
    },
  ],
});

const gathered = [{ by: "owner" }, { by: "even", among: "tenant_period" }];

const confluentCloud = tenant(
  "confluent_cloud",
  {
    metrics: { ...prometheus, auth_type: "bearer", bearer_token: "a token" },
    ccloud_api: { key: "a key", secret: "a secret", base_url: "https://gateway.example.org" },
    billing_api: { days_per_query: 15 },
    flink: [
      { region_id: "us-east-1", key: "a key", secret: "a secret", base_url: "https://flink.example.org" },
    ],
    allocator_params: { kafka_cku_usage_ratio: "0.6", kafka_cku_shared_ratio: "0.4" },
    allocator_overrides: {},
    identity_resolution_overrides: {},
    granularity_durations: {},
    topic_attribution: {
      enabled: true,
      exclude_topic_patterns: ["_schemas"],
      missing_metrics_behavior: "skip",
      cost_mapping_overrides: { KAFKA_STORAGE: "even_split" },
      retention_days: 90,
      emitters: [],
      metric_name_overrides: {
        topic_bytes_in: "bytes_in",
        topic_bytes_out: "bytes_out",
        topic_retained_bytes: "kept",
      },
    },
  },
  { allocation: { rules: [{ name: "all", split: gathered }] } },
);

const metered = tenant("generic_metrics_only", {
  metrics: { ...prometheus, headers: { "X-Scope-OrgID": "acme" } },
  allocator_params: {},
  topic_attribution: {},
  cluster_id: "k",
  display_name: "a cluster",
  identity_source: {
    source: "both",
    label: "principal",
    discovery_query: "bytes",
    principal_to_team: { ann: "search" },
    default_team: "none",
    static_identities: [{ identity_id: "ann", identity_type: "user", display_name: "Ann", team: "search" }],
  },
  currency: "EUR",
  cost_types: [
    {
      name: "A",
      product_category: "c",
      ...days,
      rate: "0.1",
      cost_quantity: { type: "fixed", count: 3 },
      allocation_strategy: "even_split",
    },
    {
      name: "B",
      product_category: "c",
      rate: "0.1",
      cost_quantity: { type: "storage_gib", query: "sum(bytes)" },
      allocation_strategy: "usage_ratio",
      allocation_query: "sum by (principal) (bytes)",
      allocation_label: "principal",
    },
    {
      name: "C",
      product_category: "c",
      rate: "0.1",
      cost_quantity: { type: "network_gib", query: "sum(bytes)" },
      allocation_strategy: "even_split",
    },
  ],
});

const selfManagedKafka = tenant("self_managed_kafka", {
  metrics: { ...prometheus, auth_type: "bearer", bearer_token_file: "/var/run/token" },
  cluster_id: "k",
  broker_count: 3,
  region: "eu",
  cost_model: {
    currency: "EUR",
    compute_hourly_rate: "0.1",
    storage_per_gib_hourly: "0.1",
    network_ingress_per_gib: "0.1",
    network_egress_per_gib: "0.1",
    changes: [
      {
        ...days,
        compute_hourly_rate: "0.3",
        storage_per_gib_hourly: "0.3",
        network_ingress_per_gib: "0.3",
        network_egress_per_gib: "0.3",
      },
    ],
    region_overrides: {
      eu: {
        compute_hourly_rate: "0.2",
        storage_per_gib_hourly: "0.2",
        network_ingress_per_gib: "0.2",
        network_egress_per_gib: "0.2",
      },
    },
  },
  identity_source: {
    source: "both",
    label: "principal",
    discovery_query: "sum by (principal) (bytes{$selector})",
    principal_to_team: { ann: "search" },
    default_team: "none",
    static_identities: [{ identity_id: "ann", identity_type: "user", display_name: "Ann", team: "search" }],
  },
  resource_source: {
    source: "admin_api",
    bootstrap_servers: "broker:9092",
    security_protocol: "SASL_SSL",
    sasl_mechanism: "PLAIN",
    sasl_username: "me",
    sasl_password: "a password",
    ssl_ca_file: "/etc/ca.pem",
    ssl_certificate_file: "/etc/c.pem",
    ssl_key_file: "/etc/k.pem",
    kafka_cluster_id: "abc",
  },
  metric_selector: 'cluster="orders"',
  discovery_window_hours: 2,
  queries: {
    cluster_bytes_in: "a{$selector}",
    cluster_bytes_out: "a{$selector}",
    cluster_storage_bytes: "a{$selector}",
    bytes_in_per_principal: "a{$selector}",
    bytes_out_per_principal: "a{$selector}",
  },
});

const byTopic = tenant("self_managed_kafka", {
  metrics: prometheus,
  cluster_id: "k",
  broker_count: 3,
  region: "eu",
  usage_by: "topic",
  topic_owners: [
    { map: "owners.csv", ...days },
    { pattern: "^(?<identity>[a-z]+)\\." },
    { prefix: "__", identity: "platform" },
  ],
  metrics_preset: "strimzi",
  cost_model: {
    compute_hourly_rate: "0.1",
    storage_per_gib_hourly: "0.1",
    network_ingress_per_gib: "0.1",
    network_egress_per_gib: "0.1",
    partition_hourly_rate: "0.1",
    changes: [{ ...days, partition_hourly_rate: "0.3" }],
    region_overrides: { eu: { partition_hourly_rate: "0.2" } },
  },
  queries: {
    bytes_in_per_topic: "a",
    bytes_out_per_topic: "a",
    storage_bytes_per_topic: "a",
    partitions_per_topic: "a",
    messages_in_per_topic: "a",
  },
  topic_attribution: {
    enabled: true,
    exclude_topic_patterns: ["__*"],
    missing_metrics_behavior: "skip",
    cost_mapping_overrides: { SELF_KAFKA_COMPUTE: "even_split" },
    retention_days: 30,
    emitters: [],
  },
});

const service: JsonMapping = {
  data_dir: "/srv/data",
  logging: { format: "json", level: "info" },
  features: { enable_periodic_refresh: true, refresh_interval: 1800, max_parallel_tenants: 4 },
  postgres: { connection_string: "postgres://me:pw@127.0.0.1:5432/costs" },
};

const replicas: JsonMapping = {
  clickhouse: { cluster: "shard_1" },
  ...tenant(
    "generic_metrics_only",
    {
      cluster_id: "cluster-acme",
      cost_types: [
        {
          name: "A",
          product_category: "c",
          rate: "0.1",
          allocation_strategy: "even_split",
          cost_quantity: { type: "fixed", count: 3 },
        },
      ],
    },
    {
      cutoff_days: 5,
      storage: { connection_string: "clickhouse://me:pw@ch-1,ch-2/acme", cluster: "shard_2" },
    },
  ),
};

const api: JsonMapping = {
  api: {
    host: "127.0.0.1",
    insecure: false,
    public: ["docs"],
    port: 8080,
    worker_port: 8081,
    tls: { certificate_file: "/etc/c.pem", key_file: "/etc/k.pem" },
    allowed_hosts: ["costs.example.org"],
    trusted_proxies: ["127.0.0.1", "10.1.0.0/16"],
    console: true,
    enable_cors: true,
    cors_origins: ["https://console.example.org"],
    request_timeout_seconds: 30,
    rate_limit: { max_per_minute: 6000, max_failed_sign_ons_per_minute: 30 },
    max_heavy_reads: 4,
    max_waiting_reads: 64,
  },
};

const signOn: JsonMapping = {
  api: {
    auth: "oidc",
    oidc: {
      issuer: "https://login.example.org/",
      audience: "costs",
      jwks_url: "https://login.example.org/keys",
      name_claim: "sub",
      roles_claim: "groups",
      client_id: "chargehouse",
      client_secret: "s3cret",
      request_scopes: "openid groups",
      issuer_name: "Example",
    },
    sessions: { idle_minutes: 30, max_hours: 8 },
    roles: [{ role: "finance", scopes: ["read"], tenants: [], every_tenant: true }],
  },
};

const proxy: JsonMapping = {
  ...tenant("focus", { sources }),
  api: {
    auth: "proxy",
    proxy: { addresses: ["10.0.0.0/8"], name_header: "x-user", roles_header: "x-groups" },
    roles: [{ role: "finance", scopes: ["read"], tenants: ["acme"], every_tenant: false }],
  },
};

const embedded: JsonMapping = {
  ...tenant("focus", { sources }),
  embedded: {
    sql_port: 8123,
    sql_host: "127.0.0.1",
    sql_tls: { certificate_file: "/etc/c.pem", key_file: "/etc/k.pem" },
    sql_allowed_hosts: ["sql.example.org"],
    sql_user: "bi",
    sql_password: "a password",
    sql_users: { ann: { password: "a password", tenants: ["acme"] } },
    sql_limits: {
      max_seconds: 300,
      max_result_rows: 1000,
      max_result_mib: 10,
      max_running: 3,
      max_per_minute: 100,
    },
  },
};

/** Small documents, because the tests read them thousands of times. */
export const wholeDocuments: Readonly<Record<string, JsonMapping>> = {
  service,
  replicas,
  api,
  signOn,
  proxy,
  embedded,
  tenantKeys,
  rules,
  passing,
  ways,
  emitters,
  focus,
  confluentCloud,
  metered,
  selfManagedKafka,
  byTopic,
};
