-- Costs that `allocation.pass_on` takes from an identity and gives to others keep their path.
ALTER TABLE chargebacks
    ADD COLUMN IF NOT EXISTS passed_from LowCardinality(String) DEFAULT '' COMMENT 'identity that the last step of pass_on took the cost from; empty if no step passed it on' CODEC(ZSTD(1)) AFTER revision,
    ADD COLUMN IF NOT EXISTS passed_path Array(Tuple(step UInt8, identity_id LowCardinality(String), tier UInt8, allocation_method LowCardinality(String), allocation_detail LowCardinality(String), metric LowCardinality(String))) COMMENT 'each step that passed the cost on, the identity that it took it from, and how that identity had been given it' CODEC(ZSTD(1)) AFTER passed_from;

-- The views show what was passed on apart from usage and shared costs.
CREATE OR REPLACE VIEW chargeback_details
(
    date              Date                   COMMENT 'UTC day',
    timestamp         DateTime('UTC')        COMMENT 'start of the billed period, UTC',
    environment_id    LowCardinality(String) COMMENT 'environment of the resource, empty if there is none',
    resource_id       LowCardinality(String) COMMENT 'resource that is billed',
    product_category  LowCardinality(String) COMMENT 'family of the product',
    product_type      LowCardinality(String) COMMENT 'product as the bill names it',
    identity_id       LowCardinality(String) COMMENT 'identity that is charged; UNALLOCATED if none was found',
    cost_type         LowCardinality(String) COMMENT 'usage: by measured usage, to a sole owner or to the identity that the line names; shared: divided by cost, fixed shares or evenly, or unallocated; passed: passed on by a step of pass_on',
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
    rule              LowCardinality(String) COMMENT 'configured rule that applies to the line; empty: the rule of its product type',
    passed_from       LowCardinality(String) COMMENT 'identity that a step of pass_on took the cost from; empty if none passed it on'
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
    charge_category, service_provider, account_id, region_id, sku_id, line_tags, rule, passed_from
FROM chargebacks
COMMENT 'Each part of each billing line, with the identity that it is charged to';

CREATE OR REPLACE VIEW daily_cost_by_identity
(
    date           Date                   COMMENT 'UTC day',
    identity_id    LowCardinality(String) COMMENT 'identity that is charged; UNALLOCATED if none was found',
    currency       LowCardinality(String) COMMENT 'ISO 4217 code of the amounts',
    usage_amount   Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in its currency',
    shared_amount  Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in its currency',
    passed_amount  Decimal(38, 12)        COMMENT 'cost that a step of pass_on took from another identity, in its currency',
    total_amount   Decimal(38, 12)        COMMENT 'usage_amount + shared_amount + passed_amount',
    row_count      UInt64                 COMMENT 'number of chargebacks',
    is_provisional Bool                   COMMENT 'true while data of the day is missing: it may still change',
    identity_name  LowCardinality(String) COMMENT 'name of the identity, empty if there is none',
    identity_type  LowCardinality(String) COMMENT 'kind of identity, empty if it is not known',
    team           LowCardinality(String) COMMENT 'team of the identity; UNASSIGNED without one, UNALLOCATED for UNALLOCATED'
)
AS WITH
    (SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities) AS known_identities
SELECT
    date, identity_id, currency, usage_amount, shared_amount, passed_amount, total_amount, row_count, is_provisional,
    transform(identity_id, known_identities.1, known_identities.2, '') AS identity_name,
    transform(identity_id, known_identities.1, known_identities.3, '') AS identity_type,
    transform(identity_id, known_identities.1, known_identities.4, 'UNASSIGNED') AS team
FROM (
    SELECT day AS date, identity_id, currency,
        sumIf(amount_hi + amount_lo, cost_type = 'usage') AS usage_amount, sumIf(amount_hi + amount_lo, cost_type = 'shared') AS shared_amount,
        sumIf(amount_hi + amount_lo, cost_type = 'passed') AS passed_amount,
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
    passed_amount Decimal(38, 12)        COMMENT 'cost that a step of pass_on took from another identity, in its currency',
    total_amount  Decimal(38, 12)        COMMENT 'usage_amount + shared_amount + passed_amount',
    row_count     UInt64                 COMMENT 'number of chargebacks',
    is_provisional Bool                  COMMENT 'true while data of the day is missing: it may still change'
)
AS SELECT
    date, team, currency, sum(usage_amount) AS usage_amount, sum(shared_amount) AS shared_amount, sum(passed_amount) AS passed_amount, sum(total_amount) AS total_amount, sum(row_count) AS row_count,
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
    passed_amount    Decimal(38, 12)        COMMENT 'cost that a step of pass_on took from another identity, in its currency',
    total_amount     Decimal(38, 12)        COMMENT 'usage_amount + shared_amount + passed_amount',
    row_count        UInt64                 COMMENT 'number of chargebacks',
    is_provisional   Bool                   COMMENT 'true while data of the day is missing: it may still change',
    resource_name    LowCardinality(String) COMMENT 'name of the resource, empty if there is none',
    resource_type    LowCardinality(String) COMMENT 'kind of resource, empty if it is not known'
)
AS WITH
    (SELECT (groupArray(resource_id), groupArray(resource_name), groupArray(toString(resource_type))) FROM resources) AS known_resources
SELECT
    date, environment_id, resource_id, product_category, product_type, currency, usage_amount, shared_amount, passed_amount, total_amount, row_count, is_provisional,
    transform(resource_id, known_resources.1, known_resources.2, '') AS resource_name,
    transform(resource_id, known_resources.1, known_resources.3, '') AS resource_type
FROM (
    SELECT day AS date, env_id AS environment_id, resource_id, product_category, product_type, currency,
        sumIf(amount_hi + amount_lo, cost_type = 'usage') AS usage_amount, sumIf(amount_hi + amount_lo, cost_type = 'shared') AS shared_amount,
        sumIf(amount_hi + amount_lo, cost_type = 'passed') AS passed_amount,
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
    passed_amount Decimal(38, 12)        COMMENT 'cost that a step of pass_on took from another identity, in its currency',
    total_amount  Decimal(38, 12)        COMMENT 'usage_amount + shared_amount + passed_amount',
    row_count     UInt64                 COMMENT 'number of chargebacks',
    is_provisional Bool                  COMMENT 'true while data of the day is missing: it may still change'
)
AS SELECT
    c.day AS date, t.tag_key AS tag_key, t.display_name AS display_name, c.currency AS currency,
    sumIf(c.hi + c.lo, c.cost_type = 'usage') AS usage_amount, sumIf(c.hi + c.lo, c.cost_type = 'shared') AS shared_amount,
    sumIf(c.hi + c.lo, c.cost_type = 'passed') AS passed_amount,
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
