-- The views of topics once more, with the name of the cluster.

CREATE OR REPLACE VIEW topic_attribution_details
(
    date                Date                   COMMENT 'UTC day',
    timestamp           DateTime('UTC')        COMMENT 'start of the billed period, UTC',
    environment_id      LowCardinality(String) COMMENT 'environment of the cluster, empty when there is none',
    cluster_resource_id LowCardinality(String) COMMENT 'cluster that was paid for',
    product_category    LowCardinality(String) COMMENT 'family of the product',
    product_type        LowCardinality(String) COMMENT 'product as the bill names it',
    topic_name          LowCardinality(String) COMMENT 'topic the cost is attributed to; __UNATTRIBUTED__ when none was found',
    amount              Decimal(38, 12)        COMMENT 'cost attributed to the topic, in its currency',
    currency            LowCardinality(String) COMMENT 'ISO 4217 code of the amount',
    attribution_method  LowCardinality(String) COMMENT 'bytes_ratio, retained_bytes_ratio, even_split or terminal',
    attribution_detail  LowCardinality(String) COMMENT 'why this method applied',
    is_issue            Bool                   COMMENT 'true when somebody should look why the cost was attributed this way',
    is_provisional      Bool                   COMMENT 'true while the service waits for what is missing of the day: it may still change',
    cluster_name        LowCardinality(String) COMMENT 'name of the cluster, empty when there is none'
)
AS WITH (SELECT (groupArray(resource_id), groupArray(resource_name)) FROM resources) AS known_resources
SELECT
    day AS date, timestamp, env_id AS environment_id, cluster_resource_id, product_category, product_type, topic_name,
    amount_hi + amount_lo AS amount, currency, attribution_method, attribution_detail,
    attribution_detail NOT IN ('usage_ratio_allocation', 'even_split_allocation') AS is_issue, provisional AS is_provisional,
    transform(cluster_resource_id, known_resources.1, known_resources.2, '') AS cluster_name
FROM topic_attributions
COMMENT 'Every part of every bill of a Kafka cluster, with the topic it is attributed to';

CREATE OR REPLACE VIEW daily_cost_by_topic
(
    date                Date                   COMMENT 'UTC day',
    environment_id      LowCardinality(String) COMMENT 'environment of the cluster, empty when there is none',
    cluster_resource_id LowCardinality(String) COMMENT 'cluster that was paid for',
    topic_name          LowCardinality(String) COMMENT 'topic the cost is attributed to; __UNATTRIBUTED__ when none was found',
    currency            LowCardinality(String) COMMENT 'ISO 4217 code of the amounts',
    total_amount        Decimal(38, 12)        COMMENT 'cost attributed to the topic, in its currency',
    row_count           UInt64                 COMMENT 'number of attributions',
    is_provisional      Bool                   COMMENT 'true while the service waits for what is missing of the day: it may still change',
    cluster_name        LowCardinality(String) COMMENT 'name of the cluster, empty when there is none'
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
COMMENT 'What each topic cost per day';
