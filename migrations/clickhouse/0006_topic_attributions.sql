-- The costs of Kafka clusters by topic: what they are weighed by, and the result. A second book of the same bill, written
-- by the same statement as chargebacks and published with them.

CREATE TABLE IF NOT EXISTS topic_usage
(
    day         Date DEFAULT toDate(timestamp, 'UTC') COMMENT 'UTC day of the sample',
    timestamp   DateTime('UTC') COMMENT 'start of the measured period, UTC' CODEC(Delta, ZSTD(1)),
    metric      LowCardinality(String) COMMENT 'what was measured: topic_bytes_in, topic_bytes_out or topic_retained_bytes' CODEC(ZSTD(1)),
    resource_id LowCardinality(String) COMMENT 'cluster of the topic' CODEC(ZSTD(1)),
    topic_name  LowCardinality(String) COMMENT 'topic it was measured for, also with usage 0' CODEC(ZSTD(1)),
    micro_units Int128 COMMENT 'measured quantity in millionths of the metric''s unit' CODEC(GCD, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, metric, resource_id, topic_name, timestamp)
COMMENT 'Usage of topics, which attribution weighs by; says also which topics there were on a day';

CREATE TABLE IF NOT EXISTS topic_usage_gaps
(
    day    Date COMMENT 'UTC day without the metric',
    metric LowCardinality(String) COMMENT 'metric of topics that could not be fetched' CODEC(ZSTD(1)),
    reason String COMMENT 'why, without secrets' CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, metric)
COMMENT 'Metrics of topics that the upstream failed to give for a day';

-- Amounts as in chargebacks. No projection: the table is a tenth of chargebacks, and none would have all filters.
CREATE TABLE IF NOT EXISTS topic_attributions
(
    day                 Date DEFAULT toDate(timestamp, 'UTC') COMMENT 'UTC day of the row',
    timestamp           DateTime('UTC') COMMENT 'timestamp of the billing line, UTC' CODEC(ZSTD(1)),
    ecosystem           LowCardinality(String) COMMENT 'kind of upstream' CODEC(ZSTD(1)),
    tenant_id           LowCardinality(String) COMMENT 'billing boundary' CODEC(ZSTD(1)),
    env_id              LowCardinality(String) COMMENT 'environment of the cluster, empty when there is none' CODEC(ZSTD(1)),
    cluster_resource_id LowCardinality(String) COMMENT 'cluster that was paid for' CODEC(ZSTD(1)),
    product_category    LowCardinality(String) COMMENT 'family of the product' CODEC(ZSTD(1)),
    product_type        LowCardinality(String) COMMENT 'product as the bill names it' CODEC(ZSTD(1)),
    topic_name          LowCardinality(String) COMMENT 'topic the cost is attributed to; __UNATTRIBUTED__ when none was found' CODEC(ZSTD(1)),
    attribution_method  LowCardinality(String) COMMENT 'bytes_ratio, retained_bytes_ratio, even_split or terminal' CODEC(ZSTD(1)),
    attribution_detail  LowCardinality(String) COMMENT 'why this method applied' CODEC(ZSTD(1)),
    metric              LowCardinality(String) COMMENT 'metrics the split was weighed by, joined with +; empty otherwise' CODEC(ZSTD(1)),
    amount_hi           Decimal(18, 4) COMMENT 'amount in whole ten-thousandths' CODEC(T64, ZSTD(1)),
    amount_lo           Decimal(38, 12) COMMENT 'what amount_hi leaves of the amount' CODEC(ZSTD(1)),
    amount              Decimal(38, 12) ALIAS amount_hi + amount_lo COMMENT 'cost attributed to the topic, in the currency of the line'
)
ENGINE = MergeTree
PARTITION BY day
ORDER BY (day, cluster_resource_id, product_type, env_id, product_category, timestamp, topic_name)
PRIMARY KEY (day, cluster_resource_id, product_type)
COMMENT 'Every billing line of a Kafka cluster, attributed to its topics; sums to those lines exactly, per line';

CREATE OR REPLACE VIEW topic_attribution_details
(
    date                Date                   COMMENT 'UTC day',
    timestamp           DateTime('UTC')        COMMENT 'start of the billed period, UTC',
    environment_id      LowCardinality(String) COMMENT 'environment of the cluster, empty when there is none',
    cluster_resource_id LowCardinality(String) COMMENT 'cluster that was paid for',
    product_category    LowCardinality(String) COMMENT 'family of the product',
    product_type        LowCardinality(String) COMMENT 'product as the bill names it',
    topic_name          LowCardinality(String) COMMENT 'topic the cost is attributed to; __UNATTRIBUTED__ when none was found',
    amount              Decimal(38, 12)        COMMENT 'cost attributed to the topic, in the currency of the bill',
    attribution_method  LowCardinality(String) COMMENT 'bytes_ratio, retained_bytes_ratio, even_split or terminal',
    attribution_detail  LowCardinality(String) COMMENT 'why this method applied',
    is_issue            Bool                   COMMENT 'true when somebody should look why the cost was attributed this way'
)
AS SELECT
    day AS date, timestamp, env_id AS environment_id, cluster_resource_id, product_category, product_type, topic_name,
    amount_hi + amount_lo AS amount, attribution_method, attribution_detail,
    attribution_detail NOT IN ('usage_ratio_allocation', 'even_split_allocation') AS is_issue
FROM topic_attributions
COMMENT 'Every part of every bill of a Kafka cluster, with the topic it is attributed to';

CREATE OR REPLACE VIEW daily_cost_by_topic
(
    date                Date                   COMMENT 'UTC day',
    environment_id      LowCardinality(String) COMMENT 'environment of the cluster, empty when there is none',
    cluster_resource_id LowCardinality(String) COMMENT 'cluster that was paid for',
    topic_name          LowCardinality(String) COMMENT 'topic the cost is attributed to; __UNATTRIBUTED__ when none was found',
    total_amount        Decimal(38, 12)        COMMENT 'cost attributed to the topic, in the currency of the bill',
    row_count           UInt64                 COMMENT 'number of attributions'
)
AS SELECT
    day AS date, env_id AS environment_id, cluster_resource_id, topic_name,
    sum(amount_hi) + sum(amount_lo) AS total_amount, count() AS row_count
FROM topic_attributions
GROUP BY date, environment_id, cluster_resource_id, topic_name
COMMENT 'What each topic cost per day';
