-- Tags beside the facts. `dimension_tags` stays their mirror; the service writes it from Postgres.

ALTER TABLE dimension_tags MODIFY COLUMN tag_key LowCardinality(String) COMMENT 'key of the tag';

CREATE TABLE IF NOT EXISTS dimension_tags_mirror
(
    mirror_id UUID COMMENT 'what Postgres calls this mirror: another or none means that it has to be filled'
)
ENGINE = MergeTree
ORDER BY mirror_id
COMMENT 'Which mirror of the tags this database holds';

CREATE OR REPLACE VIEW tags
(
    tag_id           UInt64                 COMMENT 'id of the tag',
    tag_key          LowCardinality(String) COMMENT 'key of the tag',
    display_name     String                 COMMENT 'name of the tag as people read it',
    dimension_id     UInt64                 COMMENT 'dimension the tag hangs on',
    environment_id   LowCardinality(String) COMMENT 'environment of the resource, empty when there is none',
    resource_id      LowCardinality(String) COMMENT 'what was paid for',
    product_category LowCardinality(String) COMMENT 'family of the product',
    product_type     LowCardinality(String) COMMENT 'product as the bill names it',
    identity_id      LowCardinality(String) COMMENT 'who pays',
    cost_type        LowCardinality(String) COMMENT 'usage or shared'
)
AS SELECT
    t.tag_id AS tag_id, t.tag_key AS tag_key, t.display_name AS display_name, t.dimension_id AS dimension_id, d.env_id AS environment_id,
    d.resource_id AS resource_id, d.product_category AS product_category, d.product_type AS product_type,
    d.identity_id AS identity_id, d.cost_type AS cost_type
FROM (SELECT tag_id, tag_key, display_name, dimension_id FROM dimension_tags FINAL) AS t
ANY INNER JOIN dimensions AS d ON t.dimension_id = d.dimension_id
COMMENT 'Every tag, with the dimension it hangs on';

CREATE OR REPLACE VIEW daily_cost_by_tag
(
    date          Date                   COMMENT 'UTC day',
    tag_key       LowCardinality(String) COMMENT 'key of the tag',
    display_name  String                 COMMENT 'name of the tag as people read it',
    usage_amount  Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in the currency of the bill',
    shared_amount Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in the currency of the bill',
    total_amount  Decimal(38, 12)        COMMENT 'usage_amount + shared_amount',
    row_count     UInt64                 COMMENT 'number of chargebacks'
)
AS SELECT
    c.day AS date, t.tag_key AS tag_key, t.display_name AS display_name,
    sumIf(c.hi + c.lo, c.cost_type = 'usage') AS usage_amount, sumIf(c.hi + c.lo, c.cost_type = 'shared') AS shared_amount,
    sum(c.hi + c.lo) AS total_amount, sum(c.n) AS row_count
FROM
(
    SELECT day, ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type,
        sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n
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
