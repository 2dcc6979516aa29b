-- Days that lack something are published at once, and are provisional until it comes or is given up. Every row says so, so that
-- it changes in the step in which the rows do; a gap is of a metric and a resource.
-- The views of chargebacks that 0009 makes anew say so from there on.

ALTER TABLE usage_gaps
    ADD COLUMN IF NOT EXISTS resource_id LowCardinality(String) DEFAULT '' COMMENT 'resource that it could not be fetched for, empty for all of them' CODEC(ZSTD(1)) AFTER metric,
    MODIFY COLUMN metric LowCardinality(String) COMMENT 'metric that could not be fetched; metrics_derived where the identities that such metrics name may not be all' CODEC(ZSTD(1)),
    MODIFY COMMENT 'Metrics that the upstream failed to give for a resource and a day, so that an outage is never taken for no usage';

ALTER TABLE topic_usage_gaps
    ADD COLUMN IF NOT EXISTS resource_id LowCardinality(String) DEFAULT '' COMMENT 'cluster that it could not be fetched for, empty for all of them' CODEC(ZSTD(1)) AFTER metric,
    MODIFY COMMENT 'Metrics of topics that the upstream failed to give for a cluster and a day';

-- The same for all rows of a day. The index finds the few days where it is true without reading the others.
ALTER TABLE chargebacks
    ADD COLUMN IF NOT EXISTS provisional Bool DEFAULT false COMMENT 'true while the service waits for what is missing of the day: the row may still change' CODEC(ZSTD(1)) AFTER metric;

ALTER TABLE chargebacks
    ADD INDEX IF NOT EXISTS provisional_rows provisional TYPE minmax GRANULARITY 1;

ALTER TABLE topic_attributions
    ADD COLUMN IF NOT EXISTS provisional Bool DEFAULT false COMMENT 'true while the service waits for what is missing of the day: the row may still change' CODEC(ZSTD(1)) AFTER metric;

ALTER TABLE topic_attributions
    ADD INDEX IF NOT EXISTS provisional_rows provisional TYPE minmax GRANULARITY 1;

CREATE OR REPLACE VIEW provisional_days
(
    date                         Date COMMENT 'UTC day',
    is_chargeback_provisional    Bool COMMENT 'true while its chargebacks may still change, because something is missing',
    is_attribution_provisional   Bool COMMENT 'true while its attributions to topics may still change'
)
AS SELECT day AS date, max(book = 'chargebacks') AS is_chargeback_provisional, max(book = 'topic_attributions') AS is_attribution_provisional
FROM (
    SELECT DISTINCT day, 'chargebacks' AS book FROM chargebacks WHERE provisional
    UNION ALL
    SELECT DISTINCT day, 'topic_attributions' FROM topic_attributions WHERE provisional
)
GROUP BY date
COMMENT 'Days that the service waits for something of';

CREATE OR REPLACE VIEW daily_cost_by_tag
(
    date          Date                   COMMENT 'UTC day',
    tag_key       LowCardinality(String) COMMENT 'key of the tag',
    display_name  String                 COMMENT 'name of the tag as people read it',
    usage_amount  Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in the currency of the bill',
    shared_amount Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in the currency of the bill',
    total_amount  Decimal(38, 12)        COMMENT 'usage_amount + shared_amount',
    row_count     UInt64                 COMMENT 'number of chargebacks',
    is_provisional Bool                  COMMENT 'true while the service waits for what is missing of the day: it may still change'
)
AS SELECT
    c.day AS date, t.tag_key AS tag_key, t.display_name AS display_name,
    sumIf(c.hi + c.lo, c.cost_type = 'usage') AS usage_amount, sumIf(c.hi + c.lo, c.cost_type = 'shared') AS shared_amount,
    sum(c.hi + c.lo) AS total_amount, sum(c.n) AS row_count,
    max(c.provisional) AS is_provisional
FROM
(
    SELECT day, ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type,
        sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n, max(provisional) AS provisional
    FROM chargebacks
    GROUP BY day, ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type
) AS c
INNER JOIN
(
    SELECT m.tag_key AS tag_key, m.display_name AS display_name, d.ecosystem AS ecosystem, d.tenant_id AS tenant_id, d.env_id AS env_id,
        d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type,
        d.identity_id AS identity_id, d.cost_type AS cost_type
    FROM (SELECT tag_id, tag_key, display_name, dimension_id FROM dimension_tags FINAL) AS m
    ANY INNER JOIN dimensions AS d ON m.dimension_id = d.dimension_id
) AS t
ON c.ecosystem = t.ecosystem AND c.tenant_id = t.tenant_id AND c.env_id = t.env_id AND c.resource_id = t.resource_id
    AND c.product_category = t.product_category AND c.product_type = t.product_type AND c.identity_id = t.identity_id
    AND c.cost_type = t.cost_type
GROUP BY date, tag_key, display_name
COMMENT 'What the dimensions with each tag cost per day; a dimension with tags of several keys counts under each key';

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
    is_issue            Bool                   COMMENT 'true when somebody should look why the cost was attributed this way',
    is_provisional      Bool                   COMMENT 'true while the service waits for what is missing of the day: it may still change'
)
AS SELECT
    day AS date, timestamp, env_id AS environment_id, cluster_resource_id, product_category, product_type, topic_name,
    amount_hi + amount_lo AS amount, attribution_method, attribution_detail,
    attribution_detail NOT IN ('usage_ratio_allocation', 'even_split_allocation') AS is_issue, provisional AS is_provisional
FROM topic_attributions
COMMENT 'Every part of every bill of a Kafka cluster, with the topic it is attributed to';

CREATE OR REPLACE VIEW daily_cost_by_topic
(
    date                Date                   COMMENT 'UTC day',
    environment_id      LowCardinality(String) COMMENT 'environment of the cluster, empty when there is none',
    cluster_resource_id LowCardinality(String) COMMENT 'cluster that was paid for',
    topic_name          LowCardinality(String) COMMENT 'topic the cost is attributed to; __UNATTRIBUTED__ when none was found',
    total_amount        Decimal(38, 12)        COMMENT 'cost attributed to the topic, in the currency of the bill',
    row_count           UInt64                 COMMENT 'number of attributions',
    is_provisional      Bool                   COMMENT 'true while the service waits for what is missing of the day: it may still change'
)
AS SELECT
    day AS date, env_id AS environment_id, cluster_resource_id, topic_name,
    sum(amount_hi) + sum(amount_lo) AS total_amount, count() AS row_count, max(provisional) AS is_provisional
FROM topic_attributions
GROUP BY date, environment_id, cluster_resource_id, topic_name
COMMENT 'What each topic cost per day';
