-- The facts of one tenant; each tenant has a database. Fact tables are partitioned by UTC day, so that REPLACE PARTITION
-- swaps in a whole day: readers see the old day or the new one, never a mixture.
-- `day` leads every sorting key. It costs nothing, because it is constant inside a part, and makes "by day, then by key"
-- the reading order across parts, which is the order that lists promise.
-- Every statement can be run again: running this file once more repairs a migration that was interrupted.
CREATE TABLE IF NOT EXISTS billing
(
    day              Date DEFAULT toDate(timestamp, 'UTC') COMMENT 'UTC day of the line',
    timestamp        DateTime('UTC') COMMENT 'start of the billed period, UTC' CODEC(ZSTD(1)),
    ecosystem        LowCardinality(String) COMMENT 'kind of upstream that the line came from' CODEC(ZSTD(1)),
    tenant_id        LowCardinality(String) COMMENT 'billing boundary that the line belongs to' CODEC(ZSTD(1)),
    env_id           LowCardinality(String) COMMENT 'environment of the resource, empty if there is none' CODEC(ZSTD(1)),
    resource_id      LowCardinality(String) COMMENT 'resource that is billed' CODEC(ZSTD(1)),
    product_category LowCardinality(String) COMMENT 'family of the product' CODEC(ZSTD(1)),
    product_type     LowCardinality(String) COMMENT 'product as the bill names it; chooses the allocation rule' CODEC(ZSTD(1)),
    quantity         Decimal(38, 12) COMMENT 'billed quantity, in the unit of the product' CODEC(ZSTD(1)),
    unit_price       Decimal(38, 12) COMMENT 'price of one unit; 0 if several price tiers were merged' CODEC(ZSTD(1)),
    total_cost       Decimal(38, 12) COMMENT 'cost of the line in its currency; negative for refunds' CODEC(ZSTD(1)),
    currency         LowCardinality(String) COMMENT 'ISO 4217 code' CODEC(ZSTD(1)),
    line_id          UInt64 DEFAULT 0 COMMENT '53-bit hash of the whole line, which distinguishes lines that are equal in the other columns; 0 if such lines are merged' CODEC(ZSTD(1)),
    charge_category  LowCardinality(String) DEFAULT '' COMMENT 'Usage, Purchase, Tax, Credit or Adjustment; empty if the bill does not state it' CODEC(ZSTD(1)),
    service_provider LowCardinality(String) DEFAULT '' COMMENT 'provider of the service; empty if the bill does not state it' CODEC(ZSTD(1)),
    account_id       LowCardinality(String) DEFAULT '' COMMENT 'account that is billed; empty if the bill does not state it' CODEC(ZSTD(1)),
    region_id        LowCardinality(String) DEFAULT '' COMMENT 'region of the resource; empty if there is none' CODEC(ZSTD(1)),
    sku_id           LowCardinality(String) DEFAULT '' COMMENT 'SKU that is priced; empty if the bill does not state it' CODEC(ZSTD(1)),
    line_tags        Map(LowCardinality(String), String) COMMENT 'tags of the line as the bill has them, by key' CODEC(ZSTD(1)),
    rule             LowCardinality(String) DEFAULT '' COMMENT 'configured rule that applies to the line; empty: the rule of its product type' CODEC(ZSTD(1)),
    billed_cost      Decimal(38, 12) DEFAULT 0 COMMENT 'cost on the invoice, if the bill has several costs' CODEC(ZSTD(1)),
    list_cost        Decimal(38, 12) DEFAULT 0 COMMENT 'cost at list prices, if the bill has several costs' CODEC(ZSTD(1)),
    named_identity   LowCardinality(String) DEFAULT '' COMMENT 'identity that the line names, by allocation.identity; empty if it names none' CODEC(ZSTD(1)),
    granularity      LowCardinality(String) COMMENT 'length of the billed period: hourly, daily, monthly' CODEC(ZSTD(1)),
    metadata         String COMMENT 'other fields of the line in the bill, as a JSON object' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, resource_id, product_type, env_id, product_category, timestamp)
COMMENT 'Raw billing line items, immutable once their day is published';

CREATE TABLE IF NOT EXISTS next_billing
(
    day              Date DEFAULT toDate(timestamp, 'UTC') COMMENT 'UTC day of the line',
    timestamp        DateTime('UTC') COMMENT 'start of the billed period, UTC' CODEC(ZSTD(1)),
    ecosystem        LowCardinality(String) COMMENT 'kind of upstream that the line came from' CODEC(ZSTD(1)),
    tenant_id        LowCardinality(String) COMMENT 'billing boundary that the line belongs to' CODEC(ZSTD(1)),
    env_id           LowCardinality(String) COMMENT 'environment of the resource, empty if there is none' CODEC(ZSTD(1)),
    resource_id      LowCardinality(String) COMMENT 'resource that is billed' CODEC(ZSTD(1)),
    product_category LowCardinality(String) COMMENT 'family of the product' CODEC(ZSTD(1)),
    product_type     LowCardinality(String) COMMENT 'product as the bill names it; chooses the allocation rule' CODEC(ZSTD(1)),
    quantity         Decimal(38, 12) COMMENT 'billed quantity, in the unit of the product' CODEC(ZSTD(1)),
    unit_price       Decimal(38, 12) COMMENT 'price of one unit; 0 if several price tiers were merged' CODEC(ZSTD(1)),
    total_cost       Decimal(38, 12) COMMENT 'cost of the line in its currency; negative for refunds' CODEC(ZSTD(1)),
    currency         LowCardinality(String) COMMENT 'ISO 4217 code' CODEC(ZSTD(1)),
    line_id          UInt64 DEFAULT 0 COMMENT '53-bit hash of the whole line, which distinguishes lines that are equal in the other columns; 0 if such lines are merged' CODEC(ZSTD(1)),
    charge_category  LowCardinality(String) DEFAULT '' COMMENT 'Usage, Purchase, Tax, Credit or Adjustment; empty if the bill does not state it' CODEC(ZSTD(1)),
    service_provider LowCardinality(String) DEFAULT '' COMMENT 'provider of the service; empty if the bill does not state it' CODEC(ZSTD(1)),
    account_id       LowCardinality(String) DEFAULT '' COMMENT 'account that is billed; empty if the bill does not state it' CODEC(ZSTD(1)),
    region_id        LowCardinality(String) DEFAULT '' COMMENT 'region of the resource; empty if there is none' CODEC(ZSTD(1)),
    sku_id           LowCardinality(String) DEFAULT '' COMMENT 'SKU that is priced; empty if the bill does not state it' CODEC(ZSTD(1)),
    line_tags        Map(LowCardinality(String), String) COMMENT 'tags of the line as the bill has them, by key' CODEC(ZSTD(1)),
    rule             LowCardinality(String) DEFAULT '' COMMENT 'configured rule that applies to the line; empty: the rule of its product type' CODEC(ZSTD(1)),
    billed_cost      Decimal(38, 12) DEFAULT 0 COMMENT 'cost on the invoice, if the bill has several costs' CODEC(ZSTD(1)),
    list_cost        Decimal(38, 12) DEFAULT 0 COMMENT 'cost at list prices, if the bill has several costs' CODEC(ZSTD(1)),
    named_identity   LowCardinality(String) DEFAULT '' COMMENT 'identity that the line names, by allocation.identity; empty if it names none' CODEC(ZSTD(1)),
    granularity      LowCardinality(String) COMMENT 'length of the billed period: hourly, daily, monthly' CODEC(ZSTD(1)),
    metadata         String COMMENT 'other fields of the line in the bill, as a JSON object' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, resource_id, product_type, env_id, product_category, timestamp)
COMMENT 'Bills of days that are being published, until they are in billing';

CREATE TABLE IF NOT EXISTS usage
(
    day         Date DEFAULT toDate(timestamp, 'UTC') COMMENT 'UTC day of the sample',
    timestamp   DateTime('UTC') COMMENT 'start of the measured period, UTC' CODEC(Delta(4), ZSTD(1)),
    metric      LowCardinality(String) COMMENT 'what was measured' CODEC(ZSTD(1)),
    resource_id LowCardinality(String) COMMENT 'resource that it was measured on' CODEC(ZSTD(1)),
    identity_id LowCardinality(String) COMMENT 'identity that it was measured for' CODEC(ZSTD(1)),
    micro_units Int128 COMMENT 'measured quantity in millionths of the metric\'s unit' CODEC(GCD, ZSTD(1)),
    scale       UInt8 DEFAULT 0 COMMENT 'decimal places of micro_units beyond six; the same for all of a day, metric and resource' CODEC(ZSTD(1)),
    PROJECTION by_day (SELECT day, metric, resource_id, identity_id, sum(micro_units) GROUP BY day, metric, resource_id, identity_id)
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, metric, resource_id, identity_id, timestamp)
SETTINGS default_compression_codec = 'ZSTD(1)'
COMMENT 'Usage facts that are the weights of allocation. They are kept, so that a day can be calculated again without its upstream';

CREATE TABLE IF NOT EXISTS usage_gaps
(
    day         Date COMMENT 'UTC day without the metric',
    metric      LowCardinality(String) COMMENT 'metric that could not be fetched; metrics_derived: the identities found in metrics may be incomplete' CODEC(ZSTD(1)),
    resource_id LowCardinality(String) DEFAULT '' COMMENT 'resource that it could not be fetched for; empty for all of them' CODEC(ZSTD(1)),
    reason      String COMMENT 'reason, without secrets' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, metric)
COMMENT 'Metrics that are missing for a resource and a day, so that an outage is not mistaken for no usage';

-- Usage that people upload as CSV. Each upload is a partition. Postgres records for which days and metrics it counts.
CREATE TABLE IF NOT EXISTS usage_uploads
(
    upload_id   UInt64 COMMENT 'number of the upload in Postgres',
    row         UInt64 COMMENT 'row of the file; row 1 follows the header' CODEC(Delta(8), ZSTD(1)),
    day         Date COMMENT 'UTC day' CODEC(ZSTD(1)),
    timestamp   DateTime('UTC') COMMENT 'start of the hour, or of the day' CODEC(Delta(4), ZSTD(1)),
    metric      LowCardinality(String) COMMENT 'metric that was used, as rules name it',
    resource_id LowCardinality(String) COMMENT 'resource that was used, as lines of the bill name it',
    identity_id LowCardinality(String) COMMENT 'identity that used it',
    micro_units Int128 COMMENT 'quantity in millionths' CODEC(ZSTD(1)),
    refused     LowCardinality(String) COMMENT 'column with an invalid value, while an upload is checked; empty in valid uploads',
    scale       UInt8 DEFAULT 0 COMMENT 'decimal places of micro_units beyond six' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY upload_id
ORDER BY (day, metric, resource_id, identity_id, timestamp)
COMMENT 'Uploaded usage. The rows that count are in usage';

CREATE TABLE IF NOT EXISTS identity_sets
(
    day         Date COMMENT 'UTC day of the set',
    scope       LowCardinality(String) COMMENT 'resource_active, metrics_derived, tenant_period or owner' CODEC(ZSTD(1)),
    resource_id LowCardinality(String) COMMENT 'resource of the set, empty for a set of the whole tenant' CODEC(ZSTD(1)),
    identity_id LowCardinality(String) COMMENT 'member of the set' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, scope, resource_id, identity_id)
COMMENT 'Identities that were active, were owners or existed on a day. They are resolved when gathered, so that allocation can join them';

-- The amount is stored as two columns that add up to it. `amount_hi` has whole ten-thousandths in 64 bits and compresses to
-- 1.8 bytes a row (Decimal(38, 12) alone: 2.7 with GCD, 5.7 with ZSTD). `amount_lo` has the rest and is nearly always 0: a
-- line's residue below one tick, more than four decimal places, or an amount too large for 64 bits.
-- The sorting key has the line first and then the identity: 3.5 bytes a row on 2,000 resources with pools of identities of
-- their own, against 5.5 with the identity first.
-- Granules have 65,536 rows, because each granule of a small part has dictionaries of its own: 3.8 bytes a row instead of
-- 4.8, and a page takes 10 ms either way. All of this is measured in docs/decisions/0001-fact-layout.md.
CREATE TABLE IF NOT EXISTS chargebacks
(
    day               Date DEFAULT toDate(timestamp, 'UTC') COMMENT 'UTC day of the row',
    timestamp         DateTime('UTC') COMMENT 'timestamp of the billing line, UTC' CODEC(ZSTD(1)),
    ecosystem         LowCardinality(String) COMMENT 'kind of upstream' CODEC(ZSTD(1)),
    tenant_id         LowCardinality(String) COMMENT 'billing boundary' CODEC(ZSTD(1)),
    env_id            LowCardinality(String) COMMENT 'environment of the resource, empty if there is none' CODEC(ZSTD(1)),
    resource_id       LowCardinality(String) COMMENT 'resource that is billed' CODEC(ZSTD(1)),
    product_category  LowCardinality(String) COMMENT 'family of the product' CODEC(ZSTD(1)),
    product_type      LowCardinality(String) COMMENT 'product as the bill names it' CODEC(ZSTD(1)),
    currency          LowCardinality(String) DEFAULT 'USD' COMMENT 'ISO 4217 code, that of the billing line' CODEC(ZSTD(1)),
    line_id           UInt64 DEFAULT 0 COMMENT 'line_id of the billing line' CODEC(ZSTD(1)),
    charge_category   LowCardinality(String) DEFAULT '' COMMENT 'Usage, Purchase, Tax, Credit or Adjustment; empty if the bill does not state it' CODEC(ZSTD(1)),
    service_provider  LowCardinality(String) DEFAULT '' COMMENT 'provider of the service; empty if the bill does not state it' CODEC(ZSTD(1)),
    account_id        LowCardinality(String) DEFAULT '' COMMENT 'account that is billed; empty if the bill does not state it' CODEC(ZSTD(1)),
    region_id         LowCardinality(String) DEFAULT '' COMMENT 'region of the resource; empty if there is none' CODEC(ZSTD(1)),
    sku_id            LowCardinality(String) DEFAULT '' COMMENT 'SKU that is priced; empty if the bill does not state it' CODEC(ZSTD(1)),
    line_tags         Map(LowCardinality(String), String) COMMENT 'tags of the line as the bill has them, by key' CODEC(ZSTD(1)),
    rule              LowCardinality(String) DEFAULT '' COMMENT 'configured rule that applies to the line; empty: the rule of its product type' CODEC(ZSTD(1)),
    identity_id       LowCardinality(String) COMMENT 'identity that is charged; UNALLOCATED if none was found' CODEC(ZSTD(1)),
    cost_type         LowCardinality(String) COMMENT 'usage: by measured usage or to a sole owner; shared: divided or unallocated' CODEC(ZSTD(1)),
    allocation_method LowCardinality(String) COMMENT 'usage_ratio, direct_owner, even_split or terminal' CODEC(ZSTD(1)),
    allocation_detail LowCardinality(String) COMMENT 'reason why this method applied' CODEC(ZSTD(1)),
    component         UInt8 COMMENT 'number of the component of the rule, from 0' CODEC(ZSTD(1)),
    component_ratio   LowCardinality(String) COMMENT 'share of the line that the component takes' CODEC(ZSTD(1)),
    tier              UInt8 COMMENT 'tier of the rule that applied, from 0' CODEC(ZSTD(1)),
    metric            LowCardinality(String) COMMENT 'metrics of the weights, joined with +; empty otherwise' CODEC(ZSTD(1)),
    rules_hash        LowCardinality(String) DEFAULT '' COMMENT 'rule set in allocation_rules that the row was allocated by; empty if it is not known' CODEC(ZSTD(1)),
    decimal_places    UInt8 DEFAULT 0 COMMENT 'decimal places of a tick of the line; 0 if they are not known' CODEC(ZSTD(1)),
    revision          LowCardinality(String) DEFAULT '' COMMENT 'hash of the input of the day; empty for days without one' CODEC(ZSTD(1)),
    provisional       Bool DEFAULT false COMMENT 'true while data of the day is missing: the row may still change' CODEC(ZSTD(1)),
    amount_hi         Decimal(18, 4) COMMENT 'amount in whole ten-thousandths' CODEC(T64, ZSTD(1)),
    amount_lo         Decimal(38, 12) COMMENT 'the rest of the amount' CODEC(ZSTD(1)),
    amount            Decimal(38, 12) ALIAS amount_hi + amount_lo COMMENT 'cost charged to the identity, in the currency of the line',
    INDEX provisional_rows provisional TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY day
PRIMARY KEY (day, resource_id, product_type)
ORDER BY (day, resource_id, product_type, env_id, product_category, timestamp, component, identity_id)
SETTINGS index_granularity = 65536, default_compression_codec = 'ZSTD(1)'
COMMENT 'Each part of each billing line, charged to one identity. The parts of a line add up to it exactly';

-- Sums of chargebacks, with a partition for each month. As projections, each day's part contained three more parts, and a
-- read of 200 days of a small tenant spent nearly all of its time on opening them. A publish computes the sums of its days
-- again and replaces their months. Meanwhile `published_sums_by_…` reads these days from the chargebacks
-- (docs/decisions/0047-sums-by-month.md).
CREATE TABLE IF NOT EXISTS sums_by_identity
(
    day         Date COMMENT 'UTC day' CODEC(ZSTD(1)),
    timestamp   DateTime('UTC') COMMENT 'timestamp of the billing lines, UTC' CODEC(Delta(4), ZSTD(1)),
    identity_id LowCardinality(String) COMMENT 'identity that is charged; UNALLOCATED if none was found' CODEC(ZSTD(1)),
    cost_type   LowCardinality(String) COMMENT 'usage or shared, as in chargebacks' CODEC(ZSTD(1)),
    currency    LowCardinality(String) COMMENT 'ISO 4217 code of the amounts' CODEC(ZSTD(1)),
    provisional Bool COMMENT 'true while data of the day is missing: the sums may still change' CODEC(ZSTD(1)),
    amount_hi   Decimal(38, 4) COMMENT 'sum of amount_hi' CODEC(GCD, ZSTD(1)),
    amount_lo   Decimal(38, 12) COMMENT 'sum of amount_lo' CODEC(ZSTD(1)),
    row_count   UInt64 COMMENT 'number of chargebacks' CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
PRIMARY KEY (identity_id, timestamp)
ORDER BY (identity_id, timestamp, cost_type, currency, provisional)
COMMENT 'Sums of chargebacks by identity and instant, a partition for each month';

CREATE TABLE IF NOT EXISTS sums_by_resource
(
    day               Date COMMENT 'UTC day' CODEC(ZSTD(1)),
    timestamp         DateTime('UTC') COMMENT 'timestamp of the billing lines, UTC' CODEC(Delta(4), ZSTD(1)),
    resource_id       LowCardinality(String) COMMENT 'resource that is billed' CODEC(ZSTD(1)),
    product_type      LowCardinality(String) COMMENT 'product as the bill names it' CODEC(ZSTD(1)),
    product_category  LowCardinality(String) COMMENT 'family of the product' CODEC(ZSTD(1)),
    env_id            LowCardinality(String) COMMENT 'environment of the resource, empty if there is none' CODEC(ZSTD(1)),
    cost_type         LowCardinality(String) COMMENT 'usage or shared, as in chargebacks' CODEC(ZSTD(1)),
    allocation_method LowCardinality(String) COMMENT 'how the cost was allocated, as in chargebacks' CODEC(ZSTD(1)),
    allocation_detail LowCardinality(String) COMMENT 'reason why this method applied' CODEC(ZSTD(1)),
    currency          LowCardinality(String) COMMENT 'ISO 4217 code of the amounts' CODEC(ZSTD(1)),
    provisional       Bool COMMENT 'true while data of the day is missing: the sums may still change' CODEC(ZSTD(1)),
    amount_hi         Decimal(38, 4) COMMENT 'sum of amount_hi' CODEC(GCD, ZSTD(1)),
    amount_lo         Decimal(38, 12) COMMENT 'sum of amount_lo' CODEC(ZSTD(1)),
    row_count         UInt64 COMMENT 'number of chargebacks' CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
PRIMARY KEY (resource_id, product_type, timestamp)
ORDER BY (resource_id, product_type, timestamp, env_id, product_category, cost_type, allocation_method, allocation_detail, currency, provisional)
COMMENT 'Sums of chargebacks by resource, product and instant, a partition for each month';

CREATE TABLE IF NOT EXISTS sums_by_reason
(
    day               Date COMMENT 'UTC day' CODEC(ZSTD(1)),
    timestamp         DateTime('UTC') COMMENT 'timestamp of the billing lines, UTC' CODEC(Delta(4), ZSTD(1)),
    product_type      LowCardinality(String) COMMENT 'product as the bill names it' CODEC(ZSTD(1)),
    cost_type         LowCardinality(String) COMMENT 'usage or shared, as in chargebacks' CODEC(ZSTD(1)),
    allocation_method LowCardinality(String) COMMENT 'how the cost was allocated, as in chargebacks' CODEC(ZSTD(1)),
    allocation_detail LowCardinality(String) COMMENT 'reason why this method applied' CODEC(ZSTD(1)),
    currency          LowCardinality(String) COMMENT 'ISO 4217 code of the amounts' CODEC(ZSTD(1)),
    provisional       Bool COMMENT 'true while data of the day is missing: the sums may still change' CODEC(ZSTD(1)),
    amount_hi         Decimal(38, 4) COMMENT 'sum of amount_hi' CODEC(GCD, ZSTD(1)),
    amount_lo         Decimal(38, 12) COMMENT 'sum of amount_lo' CODEC(ZSTD(1)),
    row_count         UInt64 COMMENT 'number of chargebacks' CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
PRIMARY KEY (timestamp)
ORDER BY (timestamp, product_type, cost_type, allocation_method, allocation_detail, currency, provisional)
COMMENT 'Sums of chargebacks by method and reason of the allocation and by instant, a partition for each month';

-- One row for each tier of a product's rule. Rows of a rule set never change: a changed configuration has a new hash, so a
-- statement that names a hash always sees one whole rule set.
CREATE TABLE IF NOT EXISTS allocation_rules
(
    rules_hash        String COMMENT 'hash of the whole rule set',
    rule              LowCardinality(String) DEFAULT '' COMMENT 'configured rule that the tier belongs to; empty for the rule of a product type',
    product_type      LowCardinality(String) COMMENT 'product type of the rule; * for product types without a rule',
    component         UInt8 COMMENT 'part of the line, from 0',
    component_ratio   String COMMENT 'share of the line that the component takes',
    ratio_from        UInt32 COMMENT 'start of the share, in millionths of the line',
    ratio_to          UInt32 COMMENT 'end of the share, in millionths of the line',
    tier              UInt8 COMMENT 'position in the order in which tiers are tried, from 0',
    kind              LowCardinality(String) COMMENT 'usage, cost, fixed, even, owner, line or terminal',
    sources           Array(LowCardinality(String)) COMMENT 'metrics (usage, cost, fixed) or scopes of identity sets (even, owner)',
    set_of            LowCardinality(String) COMMENT 'scope of the facts and identity sets: resource, tenant, currency or currency@COLUMN',
    allocation_detail LowCardinality(String) COMMENT 'allocation_detail of the rows of this tier',
    stage             UInt8 DEFAULT 1 COMMENT 'order in which rules are calculated: later stages weigh by what earlier ones allocated'
)
ENGINE = MergeTree
ORDER BY (rules_hash, product_type, component, tier)
COMMENT 'The rule of each product type: components, each with a list of tiers';

CREATE TABLE IF NOT EXISTS identity_maps
(
    map_hash String COMMENT 'hash of the whole map',
    value    String COMMENT 'value of the column of a line',
    identity String COMMENT 'identity of the value'
)
ENGINE = MergeTree
ORDER BY (map_hash, value)
COMMENT 'Identities of values of columns, by allocation.identity. Maps never change: a changed file is another map';

-- The costs of Kafka clusters by topic: a second ledger of the same bill, allocated by the same statement as chargebacks and
-- published with them.
CREATE TABLE IF NOT EXISTS topic_usage
(
    day         Date DEFAULT toDate(timestamp, 'UTC') COMMENT 'UTC day of the sample',
    timestamp   DateTime('UTC') COMMENT 'start of the measured period, UTC' CODEC(Delta(4), ZSTD(1)),
    metric      LowCardinality(String) COMMENT 'what was measured: topic_bytes_in, topic_bytes_out or topic_retained_bytes' CODEC(ZSTD(1)),
    resource_id LowCardinality(String) COMMENT 'cluster of the topic' CODEC(ZSTD(1)),
    topic_name  LowCardinality(String) COMMENT 'topic that it was measured for, also if the usage is 0' CODEC(ZSTD(1)),
    micro_units Int128 COMMENT 'measured quantity in millionths of the metric\'s unit' CODEC(GCD, ZSTD(1)),
    scale       UInt8 DEFAULT 0 COMMENT 'decimal places of micro_units beyond six; the same for all of a day, metric and cluster' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, metric, resource_id, topic_name, timestamp)
COMMENT 'Usage of topics, which are the weights of attributions. It also shows which topics existed on a day';

CREATE TABLE IF NOT EXISTS topic_usage_gaps
(
    day         Date COMMENT 'UTC day without the metric',
    metric      LowCardinality(String) COMMENT 'metric of topics that could not be fetched' CODEC(ZSTD(1)),
    resource_id LowCardinality(String) DEFAULT '' COMMENT 'cluster that it could not be fetched for; empty for all of them' CODEC(ZSTD(1)),
    reason      String COMMENT 'reason, without secrets' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, metric)
COMMENT 'Metrics of topics that are missing for a cluster and a day';

-- Amounts are stored as in chargebacks. There are no tables of sums: this table is a tenth of chargebacks.
CREATE TABLE IF NOT EXISTS topic_attributions
(
    day                 Date DEFAULT toDate(timestamp, 'UTC') COMMENT 'UTC day of the row',
    timestamp           DateTime('UTC') COMMENT 'timestamp of the billing line, UTC' CODEC(ZSTD(1)),
    ecosystem           LowCardinality(String) COMMENT 'kind of upstream' CODEC(ZSTD(1)),
    tenant_id           LowCardinality(String) COMMENT 'billing boundary' CODEC(ZSTD(1)),
    env_id              LowCardinality(String) COMMENT 'environment of the cluster, empty if there is none' CODEC(ZSTD(1)),
    cluster_resource_id LowCardinality(String) COMMENT 'cluster that is billed' CODEC(ZSTD(1)),
    product_category    LowCardinality(String) COMMENT 'family of the product' CODEC(ZSTD(1)),
    product_type        LowCardinality(String) COMMENT 'product as the bill names it' CODEC(ZSTD(1)),
    currency            LowCardinality(String) DEFAULT 'USD' COMMENT 'ISO 4217 code, that of the billing line' CODEC(ZSTD(1)),
    topic_name          LowCardinality(String) COMMENT 'topic that the cost is attributed to; __UNATTRIBUTED__ if none was found' CODEC(ZSTD(1)),
    attribution_method  LowCardinality(String) COMMENT 'bytes_ratio, retained_bytes_ratio, even_split or terminal' CODEC(ZSTD(1)),
    attribution_detail  LowCardinality(String) COMMENT 'reason why this method applied' CODEC(ZSTD(1)),
    metric              LowCardinality(String) COMMENT 'metrics of the weights, joined with +; empty otherwise' CODEC(ZSTD(1)),
    provisional         Bool DEFAULT false COMMENT 'true while data of the day is missing: the row may still change' CODEC(ZSTD(1)),
    amount_hi           Decimal(18, 4) COMMENT 'amount in whole ten-thousandths' CODEC(T64, ZSTD(1)),
    amount_lo           Decimal(38, 12) COMMENT 'the rest of the amount' CODEC(ZSTD(1)),
    amount              Decimal(38, 12) ALIAS amount_hi + amount_lo COMMENT 'cost attributed to the topic, in the currency of the line',
    INDEX provisional_rows provisional TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY day
PRIMARY KEY (day, cluster_resource_id, product_type)
ORDER BY (day, cluster_resource_id, product_type, env_id, product_category, timestamp, topic_name)
COMMENT 'Each part of each billing line of a Kafka cluster, attributed to one topic. The parts of a line add up to it exactly';

-- Written after a day's partitions are swapped and before Postgres records the result. The newest epoch of a day counts.
CREATE TABLE IF NOT EXISTS published_days
(
    ledger     LowCardinality(String) COMMENT 'chargebacks or topic_attributions',
    day        Date COMMENT 'UTC day',
    input_hash String COMMENT 'hash of the input of the visible rows; empty if they were removed',
    row_count  UInt64 COMMENT 'number of rows of the day',
    epoch      UInt64 COMMENT 'epoch of the lease of the run that published them'
)
ENGINE = ReplacingMergeTree(epoch)
ORDER BY (ledger, day)
COMMENT 'Published days, with the same hashes as in Postgres';

CREATE TABLE IF NOT EXISTS publishing_days
(
    day      Date COMMENT 'UTC day that is being published',
    revision String COMMENT 'revision of its new chargebacks; empty if it has none',
    is_gone  Bool COMMENT 'true if the day no longer has chargebacks'
)
ENGINE = MergeTree
ORDER BY day
COMMENT 'Days that are being published: their bill is in next_billing as soon as their new chargebacks are visible';

-- Identifies this store, so that Postgres detects one that was lost, replaced or restored from a backup.
CREATE TABLE IF NOT EXISTS store_identity
(
    store_id UUID COMMENT 'id of this store, created by its first run, also in Postgres'
)
ENGINE = MergeTree
ORDER BY store_id
COMMENT 'The id of this store';

CREATE TABLE IF NOT EXISTS dimensions
(
    dimension_id     UInt64 COMMENT 'id: a 53-bit hash of the fields',
    fingerprint      UInt128 COMMENT 'wider hash of the fields, which distinguishes a collision from a repetition',
    ecosystem        LowCardinality(String) COMMENT 'kind of upstream',
    tenant_id        LowCardinality(String) COMMENT 'billing boundary',
    env_id           LowCardinality(String) COMMENT 'environment of the resource',
    resource_id      LowCardinality(String) COMMENT 'resource that is billed',
    product_category LowCardinality(String) COMMENT 'family of the product',
    product_type     LowCardinality(String) COMMENT 'product as the bill names it',
    identity_id      LowCardinality(String) COMMENT 'identity that is charged',
    cost_type        LowCardinality(String) COMMENT 'usage or shared',
    recorded_at      DateTime64(6, 'UTC') DEFAULT now64(6) COMMENT 'time when it was first written. Of two dimensions that collide, the older one keeps the id'
)
ENGINE = ReplacingMergeTree
ORDER BY (dimension_id, fingerprint)
COMMENT 'The dimensions of all chargebacks, past and present';

CREATE TABLE IF NOT EXISTS dimension_collisions
(
    fingerprint  UInt128 COMMENT 'fingerprint of the dimension whose plain id was taken',
    dimension_id UInt64 COMMENT 'id that it has instead: a hash with a salt',
    salt         UInt16 COMMENT 'salt of that hash'
)
ENGINE = ReplacingMergeTree
ORDER BY fingerprint
COMMENT 'Dimensions whose id is not their plain hash. Nearly always empty';

CREATE TABLE IF NOT EXISTS dimension_tags
(
    dimension_id UInt64 COMMENT 'id of the dimension of the tag',
    tag_id       UInt64 COMMENT 'id of the tag',
    tag_key      LowCardinality(String) COMMENT 'key of the tag',
    display_name String COMMENT 'display name of the tag',
    is_deleted   UInt8 COMMENT '1 if the tag was removed',
    version      UInt64 COMMENT 'number that grows with each change'
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (dimension_id, tag_id)
COMMENT 'Mirror of the tags in Postgres, for joins with chargebacks';

CREATE TABLE IF NOT EXISTS dimension_tags_mirror
(
    mirror_id UUID COMMENT 'id of this mirror in Postgres. If it differs or is missing, the mirror has to be filled'
)
ENGINE = MergeTree
ORDER BY mirror_id
COMMENT 'The id of the mirror of tags in this database';

CREATE TABLE IF NOT EXISTS inventory_generations
(
    generation   UInt64 COMMENT 'number of the copy; the highest one is visible',
    content_hash String COMMENT 'hash of the copy: the same inventory is not written again'
)
ENGINE = MergeTree
PARTITION BY generation
ORDER BY generation
COMMENT 'Copies of the inventory that are complete';

-- A copy of names, types and teams, for joins with facts. Postgres has the inventory itself. Each copy is written whole under
-- a new number, and one row in `inventory_generations` makes it visible, so that readers never see parts of two copies.
CREATE TABLE IF NOT EXISTS inventory_names
(
    generation   UInt64 COMMENT 'number of the copy that the row is part of',
    kind         LowCardinality(String) COMMENT 'identity or resource',
    entity_id    String COMMENT 'id, as in facts',
    entity_type  LowCardinality(String) COMMENT 'identity_type or resource_type',
    display_name String COMMENT 'display name; empty if there is none',
    team         LowCardinality(String) COMMENT 'team of an identity: UNASSIGNED without one, UNALLOCATED for UNALLOCATED; empty for resources',
    parent_id    String COMMENT 'resource that a resource is part of; empty if there is none',
    owner_id     String COMMENT 'identity that owns a resource; empty if there is none',
    is_deleted   Bool COMMENT 'true if the upstream no longer has it'
)
ENGINE = MergeTree
PARTITION BY generation
ORDER BY (kind, entity_id)
COMMENT 'Copies of the inventory in Postgres, for joins with facts';

-- Files are inserted here. The materialized views below write each row to `focus_lines` and to `focus_text_sums`.
CREATE TABLE IF NOT EXISTS focus_landing
(
    delivery                            UInt64 COMMENT 'number of the delivery in Postgres',
    file                                UInt32 COMMENT 'position of the file in the delivery, from 0',
    line                                UInt64 COMMENT 'row of the file, from 1',
    is_end                              Bool COMMENT 'the end mark, which follows the last row',
    charge_day                          Date COMMENT 'UTC day on which the charge begins; 1970-01-01 if it is not known',
    findings                            UInt32 COMMENT 'possible problems of the line, one bit each',
    line_id                             UInt64 COMMENT 'hash of the line; equal lines have the same hash',
    cost_texts                          Array(String) COMMENT 'BilledCost, EffectiveCost, ContractedCost and ListCost as texts of the file',
    custom_columns                      Map(LowCardinality(String), String) COMMENT 'columns of the file that this table does not have, by name',
    AllocatedMethodDetails              String,
    AllocatedMethodId                   LowCardinality(String),
    AllocatedResourceId                 LowCardinality(String),
    AllocatedResourceName               LowCardinality(String),
    AllocatedTags                       String,
    AvailabilityZone                    LowCardinality(String),
    BilledCost                          Nullable(Decimal(38, 12)),
    BillingAccountId                    LowCardinality(String),
    BillingAccountName                  LowCardinality(String),
    BillingAccountType                  LowCardinality(String),
    BillingCurrency                     LowCardinality(String),
    BillingPeriodEnd                    Nullable(DateTime('UTC')),
    BillingPeriodStart                  Nullable(DateTime('UTC')),
    CapacityReservationId               LowCardinality(String),
    CapacityReservationStatus           LowCardinality(String),
    ChargeCategory                      LowCardinality(String),
    ChargeClass                         LowCardinality(String),
    ChargeDescription                   String,
    ChargeFrequency                     LowCardinality(String),
    ChargePeriodEnd                     Nullable(DateTime('UTC')),
    ChargePeriodStart                   Nullable(DateTime('UTC')),
    CommitmentDiscountCategory          LowCardinality(String),
    CommitmentDiscountId                LowCardinality(String),
    CommitmentDiscountName              LowCardinality(String),
    CommitmentDiscountQuantity          Nullable(Decimal(38, 12)),
    CommitmentDiscountStatus            LowCardinality(String),
    CommitmentDiscountType              LowCardinality(String),
    CommitmentDiscountUnit              LowCardinality(String),
    CommitmentProgramEligibilityDetails String,
    ConsumedQuantity                    Nullable(Decimal(38, 12)),
    ConsumedUnit                        LowCardinality(String),
    ContractApplied                     String,
    ContractedCost                      Nullable(Decimal(38, 12)),
    ContractedUnitPrice                 Nullable(Decimal(38, 12)),
    EffectiveCost                       Nullable(Decimal(38, 12)),
    HostProviderName                    LowCardinality(String),
    InvoiceDetailId                     LowCardinality(String),
    InvoiceId                           LowCardinality(String),
    InvoiceIssuerName                   LowCardinality(String),
    ListCost                            Nullable(Decimal(38, 12)),
    ListUnitPrice                       Nullable(Decimal(38, 12)),
    PricingCategory                     LowCardinality(String),
    PricingCurrency                     LowCardinality(String),
    PricingCurrencyContractedUnitPrice  Nullable(Decimal(38, 12)),
    PricingCurrencyEffectiveCost        Nullable(Decimal(38, 12)),
    PricingCurrencyListUnitPrice        Nullable(Decimal(38, 12)),
    PricingQuantity                     Nullable(Decimal(38, 12)),
    PricingUnit                         LowCardinality(String),
    RegionId                            LowCardinality(String),
    RegionName                          LowCardinality(String),
    ResourceId                          LowCardinality(String),
    ResourceName                        String,
    ResourceType                        LowCardinality(String),
    ServiceCategory                     LowCardinality(String),
    ServiceName                         LowCardinality(String),
    ServiceProviderName                 LowCardinality(String),
    ServiceSubcategory                  LowCardinality(String),
    SkuId                               LowCardinality(String),
    SkuMeter                            LowCardinality(String),
    SkuPriceDetails                     String,
    SkuPriceId                          LowCardinality(String),
    SubAccountId                        LowCardinality(String),
    SubAccountName                      LowCardinality(String),
    SubAccountType                      LowCardinality(String),
    Tags                                Map(LowCardinality(String), String)
)
ENGINE = `Null`
COMMENT 'FOCUS files are inserted here. It stores nothing';

-- Lines of FOCUS bills, as they were delivered. Each delivery is a partition, and counts only if Postgres has it as current.
-- Columns have the names of FOCUS 1.4; those in lower case are ours.
CREATE TABLE IF NOT EXISTS focus_lines
(
    delivery                            UInt64 COMMENT 'number of the delivery in Postgres' CODEC(ZSTD(1)),
    file                                UInt32 COMMENT 'position of the file in the delivery, from 0' CODEC(Delta(4), ZSTD(1)),
    line                                UInt64 COMMENT 'row of the file, from 1' CODEC(Delta(8), ZSTD(1)),
    charge_day                          Date COMMENT 'UTC day on which the charge begins; 1970-01-01 if it is not known' CODEC(ZSTD(1)),
    findings                            UInt32 COMMENT 'possible problems of the line, one bit each' CODEC(ZSTD(1)),
    line_id                             UInt64 COMMENT 'hash of the line; equal lines have the same hash' CODEC(ZSTD(1)),
    custom_columns                      Map(LowCardinality(String), String) COMMENT 'columns of the file that this table does not have, by name' CODEC(ZSTD(1)),
    AllocatedMethodDetails              String CODEC(ZSTD(1)),
    AllocatedMethodId                   LowCardinality(String) CODEC(ZSTD(1)),
    AllocatedResourceId                 LowCardinality(String) CODEC(ZSTD(1)),
    AllocatedResourceName               LowCardinality(String) CODEC(ZSTD(1)),
    AllocatedTags                       String CODEC(ZSTD(1)),
    AvailabilityZone                    LowCardinality(String) CODEC(ZSTD(1)),
    BilledCost                          Nullable(Decimal(38, 12)) CODEC(ZSTD(1)),
    BillingAccountId                    LowCardinality(String) CODEC(ZSTD(1)),
    BillingAccountName                  LowCardinality(String) CODEC(ZSTD(1)),
    BillingAccountType                  LowCardinality(String) CODEC(ZSTD(1)),
    BillingCurrency                     LowCardinality(String) CODEC(ZSTD(1)),
    BillingPeriodEnd                    Nullable(DateTime('UTC')) CODEC(ZSTD(1)),
    BillingPeriodStart                  Nullable(DateTime('UTC')) CODEC(ZSTD(1)),
    CapacityReservationId               LowCardinality(String) CODEC(ZSTD(1)),
    CapacityReservationStatus           LowCardinality(String) CODEC(ZSTD(1)),
    ChargeCategory                      LowCardinality(String) CODEC(ZSTD(1)),
    ChargeClass                         LowCardinality(String) CODEC(ZSTD(1)),
    ChargeDescription                   String CODEC(ZSTD(1)),
    ChargeFrequency                     LowCardinality(String) CODEC(ZSTD(1)),
    ChargePeriodEnd                     Nullable(DateTime('UTC')) CODEC(ZSTD(1)),
    ChargePeriodStart                   Nullable(DateTime('UTC')) CODEC(ZSTD(1)),
    CommitmentDiscountCategory          LowCardinality(String) CODEC(ZSTD(1)),
    CommitmentDiscountId                LowCardinality(String) CODEC(ZSTD(1)),
    CommitmentDiscountName              LowCardinality(String) CODEC(ZSTD(1)),
    CommitmentDiscountQuantity          Nullable(Decimal(38, 12)) CODEC(ZSTD(1)),
    CommitmentDiscountStatus            LowCardinality(String) CODEC(ZSTD(1)),
    CommitmentDiscountType              LowCardinality(String) CODEC(ZSTD(1)),
    CommitmentDiscountUnit              LowCardinality(String) CODEC(ZSTD(1)),
    CommitmentProgramEligibilityDetails String CODEC(ZSTD(1)),
    ConsumedQuantity                    Nullable(Decimal(38, 12)) CODEC(ZSTD(1)),
    ConsumedUnit                        LowCardinality(String) CODEC(ZSTD(1)),
    ContractApplied                     String CODEC(ZSTD(1)),
    ContractedCost                      Nullable(Decimal(38, 12)) CODEC(ZSTD(1)),
    ContractedUnitPrice                 Nullable(Decimal(38, 12)) CODEC(ZSTD(1)),
    EffectiveCost                       Nullable(Decimal(38, 12)) CODEC(ZSTD(1)),
    HostProviderName                    LowCardinality(String) CODEC(ZSTD(1)),
    InvoiceDetailId                     LowCardinality(String) CODEC(ZSTD(1)),
    InvoiceId                           LowCardinality(String) CODEC(ZSTD(1)),
    InvoiceIssuerName                   LowCardinality(String) CODEC(ZSTD(1)),
    ListCost                            Nullable(Decimal(38, 12)) CODEC(ZSTD(1)),
    ListUnitPrice                       Nullable(Decimal(38, 12)) CODEC(ZSTD(1)),
    PricingCategory                     LowCardinality(String) CODEC(ZSTD(1)),
    PricingCurrency                     LowCardinality(String) CODEC(ZSTD(1)),
    PricingCurrencyContractedUnitPrice  Nullable(Decimal(38, 12)) CODEC(ZSTD(1)),
    PricingCurrencyEffectiveCost        Nullable(Decimal(38, 12)) CODEC(ZSTD(1)),
    PricingCurrencyListUnitPrice        Nullable(Decimal(38, 12)) CODEC(ZSTD(1)),
    PricingQuantity                     Nullable(Decimal(38, 12)) CODEC(ZSTD(1)),
    PricingUnit                         LowCardinality(String) CODEC(ZSTD(1)),
    RegionId                            LowCardinality(String) CODEC(ZSTD(1)),
    RegionName                          LowCardinality(String) CODEC(ZSTD(1)),
    ResourceId                          LowCardinality(String) CODEC(ZSTD(1)),
    ResourceName                        String CODEC(ZSTD(1)),
    ResourceType                        LowCardinality(String) CODEC(ZSTD(1)),
    ServiceCategory                     LowCardinality(String) CODEC(ZSTD(1)),
    ServiceName                         LowCardinality(String) CODEC(ZSTD(1)),
    ServiceProviderName                 LowCardinality(String) CODEC(ZSTD(1)),
    ServiceSubcategory                  LowCardinality(String) CODEC(ZSTD(1)),
    SkuId                               LowCardinality(String) CODEC(ZSTD(1)),
    SkuMeter                            LowCardinality(String) CODEC(ZSTD(1)),
    SkuPriceDetails                     String CODEC(ZSTD(1)),
    SkuPriceId                          LowCardinality(String) CODEC(ZSTD(1)),
    SubAccountId                        LowCardinality(String) CODEC(ZSTD(1)),
    SubAccountName                      LowCardinality(String) CODEC(ZSTD(1)),
    SubAccountType                      LowCardinality(String) CODEC(ZSTD(1)),
    Tags                                Map(LowCardinality(String), String) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY delivery
ORDER BY (charge_day, ServiceName, ResourceId, line_id)
SETTINGS min_compress_block_size = 65536, max_compress_block_size = 65536, max_bytes_to_merge_at_max_space_in_pool = 33554432
COMMENT 'Lines of FOCUS bills as delivered. The lines that count are in billing';

-- Sums of the texts of a delivery, computed apart from the parsed numbers. Both have to agree before the delivery counts.
CREATE TABLE IF NOT EXISTS focus_text_sums
(
    delivery        UInt64 COMMENT 'number of the delivery in Postgres',
    file            UInt32 COMMENT 'position of the file in the delivery, from 0',
    currency        LowCardinality(String) COMMENT 'BillingCurrency',
    month           Date COMMENT 'first day of the month in which the charge begins; 1970-01-01 if it is not known',
    lines           UInt64 COMMENT 'lines of the file, without the end mark',
    ends            UInt64 COMMENT 'number of end marks: 1 for a CSV file that was read to its end',
    billed_cost     Decimal(76, 38) COMMENT 'sum of BilledCost',
    effective_cost  Decimal(76, 38) COMMENT 'sum of EffectiveCost',
    contracted_cost Decimal(76, 38) COMMENT 'sum of ContractedCost',
    list_cost       Decimal(76, 38) COMMENT 'sum of ListCost'
)
ENGINE = MergeTree
PARTITION BY delivery
ORDER BY (file, currency)
COMMENT 'Sums of the texts of FOCUS files';

CREATE MATERIALIZED VIEW IF NOT EXISTS focus_landing_lines TO focus_lines AS
SELECT
    delivery,
    file,
    line,
    charge_day,
    findings,
    line_id,
    custom_columns,
    AllocatedMethodDetails,
    AllocatedMethodId,
    AllocatedResourceId,
    AllocatedResourceName,
    AllocatedTags,
    AvailabilityZone,
    BilledCost,
    BillingAccountId,
    BillingAccountName,
    BillingAccountType,
    BillingCurrency,
    BillingPeriodEnd,
    BillingPeriodStart,
    CapacityReservationId,
    CapacityReservationStatus,
    ChargeCategory,
    ChargeClass,
    ChargeDescription,
    ChargeFrequency,
    ChargePeriodEnd,
    ChargePeriodStart,
    CommitmentDiscountCategory,
    CommitmentDiscountId,
    CommitmentDiscountName,
    CommitmentDiscountQuantity,
    CommitmentDiscountStatus,
    CommitmentDiscountType,
    CommitmentDiscountUnit,
    CommitmentProgramEligibilityDetails,
    ConsumedQuantity,
    ConsumedUnit,
    ContractApplied,
    ContractedCost,
    ContractedUnitPrice,
    EffectiveCost,
    HostProviderName,
    InvoiceDetailId,
    InvoiceId,
    InvoiceIssuerName,
    ListCost,
    ListUnitPrice,
    PricingCategory,
    PricingCurrency,
    PricingCurrencyContractedUnitPrice,
    PricingCurrencyEffectiveCost,
    PricingCurrencyListUnitPrice,
    PricingQuantity,
    PricingUnit,
    RegionId,
    RegionName,
    ResourceId,
    ResourceName,
    ResourceType,
    ServiceCategory,
    ServiceName,
    ServiceProviderName,
    ServiceSubcategory,
    SkuId,
    SkuMeter,
    SkuPriceDetails,
    SkuPriceId,
    SubAccountId,
    SubAccountName,
    SubAccountType,
    Tags
FROM focus_landing
WHERE NOT is_end;

CREATE MATERIALIZED VIEW IF NOT EXISTS focus_landing_sums TO focus_text_sums AS
SELECT
    delivery,
    file,
    BillingCurrency AS currency,
    toStartOfMonth(charge_day) AS month,
    countIf(NOT is_end) AS lines,
    countIf(is_end) AS ends,
    ifNull(sum(if(abs(toDecimal256OrNull(cost_texts[1], 38)) < toDecimal256('100000000000000000000000000', 38), toDecimal256OrNull(cost_texts[1], 38), NULL)), 0) AS billed_cost,
    ifNull(sum(if(abs(toDecimal256OrNull(cost_texts[2], 38)) < toDecimal256('100000000000000000000000000', 38), toDecimal256OrNull(cost_texts[2], 38), NULL)), 0) AS effective_cost,
    ifNull(sum(if(abs(toDecimal256OrNull(cost_texts[3], 38)) < toDecimal256('100000000000000000000000000', 38), toDecimal256OrNull(cost_texts[3], 38), NULL)), 0) AS contracted_cost,
    ifNull(sum(if(abs(toDecimal256OrNull(cost_texts[4], 38)) < toDecimal256('100000000000000000000000000', 38), toDecimal256OrNull(cost_texts[4], 38), NULL)), 0) AS list_cost
FROM focus_landing
GROUP BY delivery, file, currency, month;

CREATE OR REPLACE VIEW switched_days
AS SELECT day FROM publishing_days
WHERE if(is_gone,
    day NOT IN (SELECT day FROM chargebacks WHERE day IN (SELECT day FROM publishing_days)),
    (day, revision) IN (SELECT day, toString(revision) FROM chargebacks WHERE day IN (SELECT day FROM publishing_days)))
COMMENT 'Days that are being published, whose new chargebacks are visible';

CREATE OR REPLACE VIEW published_billing
AS SELECT * FROM billing WHERE day NOT IN (SELECT day FROM switched_days)
UNION ALL
SELECT * FROM next_billing WHERE day IN (SELECT day FROM switched_days)
COMMENT 'The bill that the chargebacks add up to, in the columns of billing';

CREATE OR REPLACE VIEW published_sums_by_identity
AS SELECT day, timestamp, identity_id, cost_type, currency, provisional, amount_hi, amount_lo, row_count FROM sums_by_identity WHERE day NOT IN (SELECT day FROM publishing_days)
UNION ALL
SELECT day, timestamp, identity_id, cost_type, currency, provisional, sum(chargebacks.amount_hi) AS amount_hi, sum(chargebacks.amount_lo) AS amount_lo, count() AS row_count
FROM chargebacks WHERE day IN (SELECT day FROM publishing_days)
GROUP BY day, timestamp, identity_id, cost_type, currency, provisional
COMMENT 'The sums in sums_by_identity; of days that are being published, those of the chargebacks themselves';

CREATE OR REPLACE VIEW published_sums_by_resource
AS SELECT day, timestamp, resource_id, product_type, product_category, env_id, cost_type, allocation_method, allocation_detail, currency, provisional, amount_hi, amount_lo, row_count FROM sums_by_resource WHERE day NOT IN (SELECT day FROM publishing_days)
UNION ALL
SELECT day, timestamp, resource_id, product_type, product_category, env_id, cost_type, allocation_method, allocation_detail, currency, provisional, sum(chargebacks.amount_hi) AS amount_hi, sum(chargebacks.amount_lo) AS amount_lo, count() AS row_count
FROM chargebacks WHERE day IN (SELECT day FROM publishing_days)
GROUP BY day, timestamp, resource_id, product_type, product_category, env_id, cost_type, allocation_method, allocation_detail, currency, provisional
COMMENT 'The sums in sums_by_resource; of days that are being published, those of the chargebacks themselves';

CREATE OR REPLACE VIEW published_sums_by_reason
AS SELECT day, timestamp, product_type, cost_type, allocation_method, allocation_detail, currency, provisional, amount_hi, amount_lo, row_count FROM sums_by_reason WHERE day NOT IN (SELECT day FROM publishing_days)
UNION ALL
SELECT day, timestamp, product_type, cost_type, allocation_method, allocation_detail, currency, provisional, sum(chargebacks.amount_hi) AS amount_hi, sum(chargebacks.amount_lo) AS amount_lo, count() AS row_count
FROM chargebacks WHERE day IN (SELECT day FROM publishing_days)
GROUP BY day, timestamp, product_type, cost_type, allocation_method, allocation_detail, currency, provisional
COMMENT 'The sums in sums_by_reason; of days that are being published, those of the chargebacks themselves';

CREATE OR REPLACE VIEW identities
(
    identity_id   String                 COMMENT 'id, as in facts',
    identity_name String                 COMMENT 'display name; empty if there is none',
    identity_type LowCardinality(String) COMMENT 'kind of identity',
    team          LowCardinality(String) COMMENT 'team; UNASSIGNED without one, UNALLOCATED for UNALLOCATED',
    is_deleted    Bool                   COMMENT 'true if the upstream no longer has it'
)
AS SELECT entity_id AS identity_id, display_name AS identity_name, entity_type AS identity_type, team, is_deleted
FROM inventory_names
WHERE kind = 'identity' AND generation = (SELECT max(generation) FROM inventory_generations)
COMMENT 'Identities, with names and teams';

CREATE OR REPLACE VIEW resources
(
    resource_id   String                 COMMENT 'id, as in facts',
    resource_name String                 COMMENT 'display name; empty if there is none',
    resource_type LowCardinality(String) COMMENT 'kind of resource',
    parent_id     String                 COMMENT 'resource that it is part of; empty if there is none',
    owner_id      String                 COMMENT 'identity that owns it; empty if there is none',
    is_deleted    Bool                   COMMENT 'true if the upstream no longer has it'
)
AS SELECT entity_id AS resource_id, display_name AS resource_name, entity_type AS resource_type, parent_id, owner_id, is_deleted
FROM inventory_names
WHERE kind = 'resource' AND generation = (SELECT max(generation) FROM inventory_generations)
COMMENT 'Resources, with names; without topics';

CREATE OR REPLACE VIEW tags
(
    tag_id           UInt64                 COMMENT 'id of the tag',
    tag_key          LowCardinality(String) COMMENT 'key of the tag',
    display_name     String                 COMMENT 'display name of the tag',
    dimension_id     UInt64                 COMMENT 'id of the dimension of the tag',
    environment_id   LowCardinality(String) COMMENT 'environment of the resource, empty if there is none',
    resource_id      LowCardinality(String) COMMENT 'resource that is billed',
    product_category LowCardinality(String) COMMENT 'family of the product',
    product_type     LowCardinality(String) COMMENT 'product as the bill names it',
    identity_id      LowCardinality(String) COMMENT 'identity that is charged',
    cost_type        LowCardinality(String) COMMENT 'usage or shared'
)
AS SELECT
    t.tag_id AS tag_id, t.tag_key AS tag_key, t.display_name AS display_name, t.dimension_id AS dimension_id, d.env_id AS environment_id,
    d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type,
    d.identity_id AS identity_id, d.cost_type AS cost_type
FROM (SELECT tag_id, tag_key, display_name, dimension_id FROM dimension_tags FINAL) AS t
LEFT SEMI JOIN dimensions AS d ON t.dimension_id = d.dimension_id
COMMENT 'Tags, with their dimensions';

CREATE OR REPLACE VIEW provisional_days
(
    date                         Date COMMENT 'UTC day',
    is_chargeback_provisional    Bool COMMENT 'true while data for its chargebacks is missing: they may still change',
    is_attribution_provisional   Bool COMMENT 'true while data for its attributions to topics is missing: they may still change'
)
AS SELECT day AS date, max(ledger = 'chargebacks') AS is_chargeback_provisional, max(ledger = 'topic_attributions') AS is_attribution_provisional
FROM (
    SELECT DISTINCT day, 'chargebacks' AS ledger FROM chargebacks WHERE provisional
    UNION ALL
    SELECT DISTINCT day, 'topic_attributions' FROM topic_attributions WHERE provisional
)
GROUP BY date
COMMENT 'Provisional days: some of their data is missing';

-- Views for BI tools. Their columns have names of the API.
CREATE OR REPLACE VIEW chargeback_details
(
    date              Date                   COMMENT 'UTC day',
    timestamp         DateTime('UTC')        COMMENT 'start of the billed period, UTC',
    environment_id    LowCardinality(String) COMMENT 'environment of the resource, empty if there is none',
    resource_id       LowCardinality(String) COMMENT 'resource that is billed',
    product_category  LowCardinality(String) COMMENT 'family of the product',
    product_type      LowCardinality(String) COMMENT 'product as the bill names it',
    identity_id       LowCardinality(String) COMMENT 'identity that is charged; UNALLOCATED if none was found',
    cost_type         LowCardinality(String) COMMENT 'usage: by measured usage, to a sole owner or to the identity that the line names; shared: divided by cost, fixed shares or evenly, or unallocated',
    amount            Decimal(38, 12)        COMMENT 'cost charged to the identity, in its currency',
    currency          LowCardinality(String) COMMENT 'ISO 4217 code of the amount',
    allocation_method LowCardinality(String) COMMENT 'usage_ratio, direct_owner, even_split, line_identity, cost_ratio, fixed_ratio or terminal',
    allocation_detail LowCardinality(String) COMMENT 'reason why this method applied',
    is_issue          Bool                   COMMENT 'true if the reason of the allocation should be checked',
    is_provisional    Bool                   COMMENT 'true while data of the day is missing: it may still change',
    dimension_id      UInt64                 COMMENT 'id of the dimension, the key of tags',
    identity_name     LowCardinality(String) COMMENT 'name of the identity, empty if there is none',
    identity_type     LowCardinality(String) COMMENT 'kind of identity, empty if it is not known',
    team              LowCardinality(String) COMMENT 'team of the identity; UNASSIGNED without one, UNALLOCATED for UNALLOCATED',
    resource_name     LowCardinality(String) COMMENT 'name of the resource, empty if there is none',
    resource_type     LowCardinality(String) COMMENT 'kind of resource, empty if it is not known',
    charge_category   LowCardinality(String) COMMENT 'Usage, Purchase, Tax, Credit or Adjustment; empty if the bill does not state it',
    service_provider  LowCardinality(String) COMMENT 'provider of the service; empty if the bill does not state it',
    account_id        LowCardinality(String) COMMENT 'account that is billed; empty if the bill does not state it',
    region_id         LowCardinality(String) COMMENT 'region of the resource; empty if there is none',
    sku_id            LowCardinality(String) COMMENT 'SKU that is priced; empty if the bill does not state it',
    line_tags         Map(LowCardinality(String), String) COMMENT 'tags of the billing line as the bill has them, by key',
    rule              LowCardinality(String) COMMENT 'configured rule that applies to the line; empty: the rule of its product type'
)
AS WITH
    (SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities) AS known_identities,
    (SELECT (groupArray(resource_id), groupArray(resource_name), groupArray(toString(resource_type))) FROM resources) AS known_resources,
    (SELECT (groupArray(fingerprint), groupArray(dimension_id)) FROM dimension_collisions FINAL) AS collided,
    reinterpretAsUInt128(sipHash128(CAST(ecosystem AS String), CAST(tenant_id AS String), CAST(env_id AS String),
        CAST(resource_id AS String), CAST(product_category AS String), CAST(product_type AS String), CAST(identity_id AS String),
        CAST(cost_type AS String))) AS dimension_fingerprint
SELECT
    day AS date, timestamp, env_id AS environment_id, resource_id, product_category, product_type, identity_id, cost_type,
    amount_hi + amount_lo AS amount, currency, allocation_method, allocation_detail,
    allocation_detail NOT IN ('usage_ratio_allocation', 'even_split_allocation', 'direct_owner_allocation', 'line_identity_allocation', 'cost_ratio_allocation', 'fixed_ratio_allocation', 'shared_by_design', 'unattributable_by_design') AS is_issue, provisional AS is_provisional,
    if(notEmpty(collided.1) AND has(collided.1, dimension_fingerprint), collided.2[indexOf(collided.1, dimension_fingerprint)],
        bitAnd(reinterpretAsUInt64(dimension_fingerprint), 9007199254740991)) AS dimension_id,
    transform(identity_id, known_identities.1, known_identities.2, '') AS identity_name,
    transform(identity_id, known_identities.1, known_identities.3, '') AS identity_type,
    transform(identity_id, known_identities.1, known_identities.4, 'UNASSIGNED') AS team,
    transform(resource_id, known_resources.1, known_resources.2, '') AS resource_name,
    transform(resource_id, known_resources.1, known_resources.3, '') AS resource_type,
    charge_category, service_provider, account_id, region_id, sku_id, line_tags, rule
FROM chargebacks
COMMENT 'Each part of each billing line, with the identity that it is charged to';

CREATE OR REPLACE VIEW billing_line_items
(
    date             Date                   COMMENT 'UTC day',
    timestamp        DateTime('UTC')        COMMENT 'start of the billed period, UTC',
    environment_id   LowCardinality(String) COMMENT 'environment of the resource, empty if there is none',
    resource_id      LowCardinality(String) COMMENT 'resource that is billed',
    product_category LowCardinality(String) COMMENT 'family of the product',
    product_type     LowCardinality(String) COMMENT 'product as the bill names it',
    quantity         Decimal(38, 12)        COMMENT 'billed quantity, in the unit of the product',
    unit_price       Decimal(38, 12)        COMMENT 'price of one unit',
    total_cost       Decimal(38, 12)        COMMENT 'cost of the line, negative for refunds',
    currency         LowCardinality(String) COMMENT 'ISO 4217 code',
    resource_name    LowCardinality(String) COMMENT 'name of the resource, empty if there is none',
    resource_type    LowCardinality(String) COMMENT 'kind of resource, empty if it is not known'
)
AS WITH
    (SELECT (groupArray(resource_id), groupArray(resource_name), groupArray(toString(resource_type))) FROM resources) AS known_resources
SELECT
    day AS date, timestamp, env_id AS environment_id, resource_id, product_category, product_type, quantity, unit_price, total_cost, currency,
    transform(resource_id, known_resources.1, known_resources.2, '') AS resource_name,
    transform(resource_id, known_resources.1, known_resources.3, '') AS resource_type
FROM published_billing
COMMENT 'Billing lines, as they were gathered';

CREATE OR REPLACE VIEW usage_quantities
(
    date        Date                   COMMENT 'UTC day',
    hour        DateTime('UTC')        COMMENT 'start of the measured period, UTC',
    metric      LowCardinality(String) COMMENT 'what was measured',
    resource_id LowCardinality(String) COMMENT 'resource that it was measured on',
    identity_id LowCardinality(String) COMMENT 'identity that it was measured for',
    quantity    Decimal(38, 12)        COMMENT 'measured quantity, in the unit of the metric; digits after the twelfth decimal place are cut off'
)
AS SELECT day AS date, timestamp AS hour, metric, resource_id, identity_id,
    reinterpret(toInt128(if(scale <= 6, micro_units * intExp10(6 - least(scale, 6)), intDiv(micro_units, toInt128(exp10(least(scale, 28) - 6))))), 'Decimal(38, 12)') AS quantity
FROM usage
COMMENT 'Measured usage, the weights of the allocation';

CREATE OR REPLACE VIEW topic_attribution_details
(
    date                Date                   COMMENT 'UTC day',
    timestamp           DateTime('UTC')        COMMENT 'start of the billed period, UTC',
    environment_id      LowCardinality(String) COMMENT 'environment of the cluster, empty if there is none',
    cluster_resource_id LowCardinality(String) COMMENT 'cluster that is billed',
    product_category    LowCardinality(String) COMMENT 'family of the product',
    product_type        LowCardinality(String) COMMENT 'product as the bill names it',
    topic_name          LowCardinality(String) COMMENT 'topic that the cost is attributed to; __UNATTRIBUTED__ if none was found',
    amount              Decimal(38, 12)        COMMENT 'cost attributed to the topic, in its currency',
    currency            LowCardinality(String) COMMENT 'ISO 4217 code of the amount',
    attribution_method  LowCardinality(String) COMMENT 'bytes_ratio, retained_bytes_ratio, even_split or terminal',
    attribution_detail  LowCardinality(String) COMMENT 'reason why this method applied',
    is_issue            Bool                   COMMENT 'true if the reason of the attribution should be checked',
    is_provisional      Bool                   COMMENT 'true while data of the day is missing: it may still change',
    cluster_name        LowCardinality(String) COMMENT 'name of the cluster, empty if there is none'
)
AS WITH (SELECT (groupArray(resource_id), groupArray(resource_name)) FROM resources) AS known_resources
SELECT
    day AS date, timestamp, env_id AS environment_id, cluster_resource_id, product_category, product_type, topic_name,
    amount_hi + amount_lo AS amount, currency, attribution_method, attribution_detail,
    attribution_detail NOT IN ('usage_ratio_allocation', 'even_split_allocation') AS is_issue, provisional AS is_provisional,
    transform(cluster_resource_id, known_resources.1, known_resources.2, '') AS cluster_name
FROM topic_attributions
COMMENT 'Each part of each billing line of a Kafka cluster, with the topic that it is attributed to';

-- These views read the tables of sums.
CREATE OR REPLACE VIEW daily_cost_by_identity
(
    date           Date                   COMMENT 'UTC day',
    identity_id    LowCardinality(String) COMMENT 'identity that is charged; UNALLOCATED if none was found',
    currency       LowCardinality(String) COMMENT 'ISO 4217 code of the amounts',
    usage_amount   Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in its currency',
    shared_amount  Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in its currency',
    total_amount   Decimal(38, 12)        COMMENT 'usage_amount + shared_amount',
    row_count      UInt64                 COMMENT 'number of chargebacks',
    is_provisional Bool                   COMMENT 'true while data of the day is missing: it may still change',
    identity_name  LowCardinality(String) COMMENT 'name of the identity, empty if there is none',
    identity_type  LowCardinality(String) COMMENT 'kind of identity, empty if it is not known',
    team           LowCardinality(String) COMMENT 'team of the identity; UNASSIGNED without one, UNALLOCATED for UNALLOCATED'
)
AS WITH
    (SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities) AS known_identities
SELECT
    date, identity_id, currency, usage_amount, shared_amount, total_amount, row_count, is_provisional,
    transform(identity_id, known_identities.1, known_identities.2, '') AS identity_name,
    transform(identity_id, known_identities.1, known_identities.3, '') AS identity_type,
    transform(identity_id, known_identities.1, known_identities.4, 'UNASSIGNED') AS team
FROM (
    SELECT day AS date, identity_id, currency,
        sumIf(amount_hi + amount_lo, cost_type = 'usage') AS usage_amount, sumIf(amount_hi + amount_lo, cost_type = 'shared') AS shared_amount,
        sum(amount_hi + amount_lo) AS total_amount, sum(sums.row_count) AS row_count, max(provisional) AS is_provisional
    FROM published_sums_by_identity AS sums
    GROUP BY date, identity_id, currency
)
COMMENT 'Costs by day and identity';

CREATE OR REPLACE VIEW daily_cost_by_team
(
    date          Date                   COMMENT 'UTC day',
    team          LowCardinality(String) COMMENT 'team of the identities; UNASSIGNED without one, UNALLOCATED for UNALLOCATED',
    currency      LowCardinality(String) COMMENT 'ISO 4217 code of the amounts',
    usage_amount  Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in its currency',
    shared_amount Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in its currency',
    total_amount  Decimal(38, 12)        COMMENT 'usage_amount + shared_amount',
    row_count     UInt64                 COMMENT 'number of chargebacks',
    is_provisional Bool                  COMMENT 'true while data of the day is missing: it may still change'
)
AS SELECT
    date, team, currency, sum(usage_amount) AS usage_amount, sum(shared_amount) AS shared_amount, sum(total_amount) AS total_amount, sum(row_count) AS row_count,
    max(is_provisional) AS is_provisional
FROM daily_cost_by_identity
GROUP BY date, team, currency
COMMENT 'Costs by day and team';

CREATE OR REPLACE VIEW daily_cost_by_resource
(
    date             Date                   COMMENT 'UTC day',
    environment_id   LowCardinality(String) COMMENT 'environment of the resource, empty if there is none',
    resource_id      LowCardinality(String) COMMENT 'resource that is billed',
    product_category LowCardinality(String) COMMENT 'family of the product',
    product_type     LowCardinality(String) COMMENT 'product as the bill names it',
    currency         LowCardinality(String) COMMENT 'ISO 4217 code of the amounts',
    usage_amount     Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in its currency',
    shared_amount    Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in its currency',
    total_amount     Decimal(38, 12)        COMMENT 'usage_amount + shared_amount',
    row_count        UInt64                 COMMENT 'number of chargebacks',
    is_provisional   Bool                   COMMENT 'true while data of the day is missing: it may still change',
    resource_name    LowCardinality(String) COMMENT 'name of the resource, empty if there is none',
    resource_type    LowCardinality(String) COMMENT 'kind of resource, empty if it is not known'
)
AS WITH
    (SELECT (groupArray(resource_id), groupArray(resource_name), groupArray(toString(resource_type))) FROM resources) AS known_resources
SELECT
    date, environment_id, resource_id, product_category, product_type, currency, usage_amount, shared_amount, total_amount, row_count, is_provisional,
    transform(resource_id, known_resources.1, known_resources.2, '') AS resource_name,
    transform(resource_id, known_resources.1, known_resources.3, '') AS resource_type
FROM (
    SELECT day AS date, env_id AS environment_id, resource_id, product_category, product_type, currency,
        sumIf(amount_hi + amount_lo, cost_type = 'usage') AS usage_amount, sumIf(amount_hi + amount_lo, cost_type = 'shared') AS shared_amount,
        sum(amount_hi + amount_lo) AS total_amount, sum(sums.row_count) AS row_count, max(provisional) AS is_provisional
    FROM published_sums_by_resource AS sums
    GROUP BY date, environment_id, resource_id, product_category, product_type, currency
)
COMMENT 'Costs by day, resource and product';

CREATE OR REPLACE VIEW daily_cost_by_tag
(
    date          Date                   COMMENT 'UTC day',
    tag_key       LowCardinality(String) COMMENT 'key of the tag',
    display_name  String                 COMMENT 'display name of the tag',
    currency      LowCardinality(String) COMMENT 'ISO 4217 code of the amounts',
    usage_amount  Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in its currency',
    shared_amount Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in its currency',
    total_amount  Decimal(38, 12)        COMMENT 'usage_amount + shared_amount',
    row_count     UInt64                 COMMENT 'number of chargebacks',
    is_provisional Bool                  COMMENT 'true while data of the day is missing: it may still change'
)
AS SELECT
    c.day AS date, t.tag_key AS tag_key, t.display_name AS display_name, c.currency AS currency,
    sumIf(c.hi + c.lo, c.cost_type = 'usage') AS usage_amount, sumIf(c.hi + c.lo, c.cost_type = 'shared') AS shared_amount,
    sum(c.hi + c.lo) AS total_amount, sum(c.n) AS row_count,
    max(c.provisional) AS is_provisional
FROM
(
    SELECT day, ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type, currency,
        sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n, max(provisional) AS provisional
    FROM chargebacks
    GROUP BY day, ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type, currency
) AS c
INNER JOIN
(
    SELECT m.tag_key AS tag_key, m.display_name AS display_name, d.ecosystem AS ecosystem, d.tenant_id AS tenant_id, d.env_id AS env_id,
        d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type,
        d.identity_id AS identity_id, d.cost_type AS cost_type
    FROM (SELECT tag_id, tag_key, display_name, dimension_id FROM dimension_tags FINAL) AS m
    LEFT SEMI JOIN dimensions AS d ON m.dimension_id = d.dimension_id
) AS t
ON c.ecosystem = t.ecosystem AND c.tenant_id = t.tenant_id AND c.env_id = t.env_id AND c.resource_id = t.resource_id
    AND c.product_category = t.product_category AND c.product_type = t.product_type AND c.identity_id = t.identity_id
    AND c.cost_type = t.cost_type
GROUP BY date, tag_key, display_name, currency
COMMENT 'Costs by day, tag key and tag. A dimension with tags of several keys counts under each key';

CREATE OR REPLACE VIEW daily_cost_by_topic
(
    date                Date                   COMMENT 'UTC day',
    environment_id      LowCardinality(String) COMMENT 'environment of the cluster, empty if there is none',
    cluster_resource_id LowCardinality(String) COMMENT 'cluster that is billed',
    topic_name          LowCardinality(String) COMMENT 'topic that the cost is attributed to; __UNATTRIBUTED__ if none was found',
    currency            LowCardinality(String) COMMENT 'ISO 4217 code of the amounts',
    total_amount        Decimal(38, 12)        COMMENT 'cost attributed to the topic, in its currency',
    row_count           UInt64                 COMMENT 'number of attributions',
    is_provisional      Bool                   COMMENT 'true while data of the day is missing: it may still change',
    cluster_name        LowCardinality(String) COMMENT 'name of the cluster, empty if there is none'
)
AS WITH (SELECT (groupArray(resource_id), groupArray(resource_name)) FROM resources) AS known_resources
SELECT
    date, environment_id, cluster_resource_id, topic_name, currency, total_amount, row_count, is_provisional,
    transform(cluster_resource_id, known_resources.1, known_resources.2, '') AS cluster_name
FROM (
    SELECT
        day AS date, env_id AS environment_id, cluster_resource_id, topic_name, currency,
        sum(amount_hi) + sum(amount_lo) AS total_amount, count() AS row_count, max(provisional) AS is_provisional
    FROM topic_attributions
    GROUP BY date, environment_id, cluster_resource_id, topic_name, currency
)
COMMENT 'Costs by day and topic';

CREATE OR REPLACE VIEW daily_reconciliation
(
    date        Date                   COMMENT 'UTC day',
    currency    LowCardinality(String) COMMENT 'ISO 4217 code of the sums',
    billing     Decimal(38, 12)        COMMENT 'sum of the bill',
    chargebacks Decimal(38, 12)        COMMENT 'sum of the chargebacks',
    difference  Decimal(38, 12)        COMMENT 'chargebacks minus billing: always 0'
)
AS SELECT date, currency, sum(billed) AS billing, sum(charged) AS chargebacks, sum(charged) - sum(billed) AS difference
FROM (
    SELECT day AS date, currency, sum(total_cost) AS billed, toDecimal128(0, 12) AS charged FROM published_billing GROUP BY date, currency
    UNION ALL
    SELECT date, currency, toDecimal128(0, 12), sum(hi + lo)
    FROM (SELECT toDate(timestamp, 'UTC') AS date, currency, sum(amount_hi) AS hi, sum(amount_lo) AS lo FROM chargebacks GROUP BY date, currency)
    GROUP BY date, currency
)
GROUP BY date, currency
COMMENT 'Comparison of the bill with its chargebacks, by day and currency';
