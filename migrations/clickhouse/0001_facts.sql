-- The facts of one tenant. One database per tenant; every fact table is partitioned by UTC day, so that a day is
-- swapped in (REPLACE PARTITION) or dropped in one step: readers see the old day or the new one, never a half.
-- `day` leads every sorting key: it is constant inside a part (it costs nothing) and makes "by day, then by key"
-- the natural reading order across parts, which is the order that lists promise.

CREATE TABLE IF NOT EXISTS billing
(
    day              Date DEFAULT toDate(timestamp, 'UTC')  COMMENT 'UTC day of the line',
    timestamp        DateTime('UTC') COMMENT 'start of the billed period, UTC' CODEC(ZSTD(1)),
    ecosystem        LowCardinality(String) COMMENT 'kind of upstream the line came from' CODEC(ZSTD(1)),
    tenant_id        LowCardinality(String) COMMENT 'billing boundary the line belongs to' CODEC(ZSTD(1)),
    env_id           LowCardinality(String) COMMENT 'environment of the resource, empty when there is none' CODEC(ZSTD(1)),
    resource_id      LowCardinality(String) COMMENT 'what was paid for' CODEC(ZSTD(1)),
    product_category LowCardinality(String) COMMENT 'family of the product' CODEC(ZSTD(1)),
    product_type     LowCardinality(String) COMMENT 'product as the bill names it; chooses the allocation rule' CODEC(ZSTD(1)),
    quantity         Decimal(38, 12) COMMENT 'billed quantity, in the unit of the product' CODEC(ZSTD(1)),
    unit_price       Decimal(38, 12) COMMENT 'price of one unit; 0 when several price tiers were merged' CODEC(ZSTD(1)),
    total_cost       Decimal(38, 12) COMMENT 'cost of the line in its currency; negative for refunds' CODEC(ZSTD(1)),
    currency         LowCardinality(String) COMMENT 'ISO 4217 code' CODEC(ZSTD(1)),
    granularity      LowCardinality(String) COMMENT 'length of the billed period: hourly, daily, monthly' CODEC(ZSTD(1)),
    metadata         String COMMENT 'what else the bill said of the line, JSON object' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, resource_id, product_type, env_id, product_category, timestamp)
COMMENT 'Raw billing line items, immutable once their day is published';

CREATE TABLE IF NOT EXISTS usage
(
    day         Date DEFAULT toDate(timestamp, 'UTC')      COMMENT 'UTC day of the sample',
    timestamp   DateTime('UTC') COMMENT 'start of the measured period, UTC' CODEC(Delta, ZSTD(1)),
    metric      LowCardinality(String) COMMENT 'what was measured' CODEC(ZSTD(1)),
    resource_id LowCardinality(String) COMMENT 'resource it was measured on' CODEC(ZSTD(1)),
    identity_id LowCardinality(String) COMMENT 'identity it was measured for' CODEC(ZSTD(1)),
    micro_units Int128 COMMENT 'measured quantity in millionths of the metric''s unit' CODEC(GCD, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, metric, resource_id, identity_id, timestamp)
COMMENT 'Usage facts that allocation weighs by; kept, so that a day can be calculated again without its upstream';

CREATE TABLE IF NOT EXISTS identity_sets
(
    day         Date                                       COMMENT 'UTC day the set holds for',
    scope       LowCardinality(String) COMMENT 'resource_active, metrics_derived, tenant_period or owner' CODEC(ZSTD(1)),
    resource_id LowCardinality(String) COMMENT 'resource of the set, empty for a set of the whole tenant' CODEC(ZSTD(1)),
    identity_id LowCardinality(String) COMMENT 'member of the set' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, scope, resource_id, identity_id)
COMMENT 'Who was active, who owned and who existed on a day: resolved when gathered, so that allocation can join';

CREATE TABLE IF NOT EXISTS usage_gaps
(
    day    Date                                            COMMENT 'UTC day without the metric',
    metric LowCardinality(String) COMMENT 'metric that could not be fetched' CODEC(ZSTD(1)),
    reason String COMMENT 'why, without secrets' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, metric)
COMMENT 'Metrics that the upstream failed to give for a day, so that an outage is never taken for no usage';

-- The amount is stored as two columns that always add up to it. `amount_hi` holds what fits whole ten-thousandths in 64 bits
-- and compresses to 1.8 bytes a row (Decimal(38, 12) alone: 2.7 with GCD, 5.7 with ZSTD); `amount_lo` holds the rest
-- (a line's residue below one tick, more than four decimal places, or an amount too large for 64 bits), nearly always 0.
-- Sorted by line and then identity because a line's identities and amounts are what varies: 3.5 bytes a row on 2,000
-- resources with pools of identities of their own, against 5.5 when sorted by identity first.
-- Granules of 65,536 rows, because each granule of a small part carries dictionaries of its own: 3.8 bytes a row instead of
-- 4.8, and pages cost 10 ms either way. The codec by default is for the columns of projections: a quarter off their size.
-- All measured in docs/decisions/0001-fact-layout.md.
CREATE TABLE IF NOT EXISTS chargebacks
(
    day               Date DEFAULT toDate(timestamp, 'UTC') COMMENT 'UTC day of the row',
    timestamp         DateTime('UTC') COMMENT 'timestamp of the billing line, UTC' CODEC(ZSTD(1)),
    ecosystem         LowCardinality(String) COMMENT 'kind of upstream' CODEC(ZSTD(1)),
    tenant_id         LowCardinality(String) COMMENT 'billing boundary' CODEC(ZSTD(1)),
    env_id            LowCardinality(String) COMMENT 'environment of the resource, empty when there is none' CODEC(ZSTD(1)),
    resource_id       LowCardinality(String) COMMENT 'what was paid for' CODEC(ZSTD(1)),
    product_category  LowCardinality(String) COMMENT 'family of the product' CODEC(ZSTD(1)),
    product_type      LowCardinality(String) COMMENT 'product as the bill names it' CODEC(ZSTD(1)),
    identity_id       LowCardinality(String) COMMENT 'who pays; UNALLOCATED when nobody was found' CODEC(ZSTD(1)),
    cost_type         LowCardinality(String) COMMENT 'usage: by measured usage or sole owner; shared: divided or unallocated' CODEC(ZSTD(1)),
    allocation_method LowCardinality(String) COMMENT 'usage_ratio, direct_owner, even_split or terminal' CODEC(ZSTD(1)),
    allocation_detail LowCardinality(String) COMMENT 'why this method applied' CODEC(ZSTD(1)),
    component         UInt8 COMMENT 'part of the line by the product''s rule, from 0' CODEC(ZSTD(1)),
    component_ratio   LowCardinality(String) COMMENT 'share of the line that the component takes' CODEC(ZSTD(1)),
    tier              UInt8 COMMENT 'tier of the rule that applied, from 0' CODEC(ZSTD(1)),
    metric            LowCardinality(String) COMMENT 'metrics the split was weighed by, joined with +; empty otherwise' CODEC(ZSTD(1)),
    amount_hi         Decimal(18, 4) COMMENT 'amount in whole ten-thousandths' CODEC(T64, ZSTD(1)),
    amount_lo         Decimal(38, 12) COMMENT 'what amount_hi leaves of the amount' CODEC(ZSTD(1)),
    amount            Decimal(38, 12) ALIAS amount_hi + amount_lo COMMENT 'cost given to the identity, in the currency of the line',

    PROJECTION by_identity
    (
        SELECT timestamp, identity_id, cost_type, sum(amount_hi), sum(amount_lo), count()
        GROUP BY timestamp, identity_id, cost_type
    ),
    PROJECTION by_resource
    (
        SELECT timestamp, resource_id, product_type, product_category, env_id, cost_type, allocation_method,
               sum(amount_hi), sum(amount_lo), count()
        GROUP BY timestamp, resource_id, product_type, product_category, env_id, cost_type, allocation_method
    )
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, resource_id, product_type, env_id, product_category, timestamp, component, identity_id)
PRIMARY KEY (day, resource_id, product_type)
SETTINGS index_granularity = 65536, default_compression_codec = 'ZSTD(1)'
COMMENT 'Every part of every billing line, given to one identity; sums to billing exactly, per line';
