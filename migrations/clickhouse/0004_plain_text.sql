-- Text inside a map or an array is plain. A dictionary (LowCardinality) inside one is copied row by row, whenever rows are
-- sorted, repeated or divided by day: it took four fifths of the time of writing chargebacks.
ALTER TABLE billing
    MODIFY COLUMN line_tags Map(String, String);
ALTER TABLE next_billing
    MODIFY COLUMN line_tags Map(String, String);
ALTER TABLE chargebacks
    MODIFY COLUMN line_tags Map(String, String),
    MODIFY COLUMN passed_path Array(Tuple(step UInt8, identity_id String, tier UInt8, allocation_method String, allocation_detail String, metric String));
-- A day of 100,000 chargebacks has 10 MiB, above which a part has a file for each column and stream: 167 instead of 8.
ALTER TABLE chargebacks
    MODIFY SETTING min_bytes_for_wide_part = 33554432;
ALTER TABLE focus_landing
    MODIFY COLUMN custom_columns Map(String, String),
    MODIFY COLUMN Tags Map(String, String);
ALTER TABLE focus_lines
    MODIFY COLUMN custom_columns Map(String, String),
    MODIFY COLUMN Tags Map(String, String);

DROP VIEW IF EXISTS focus_landing_lines SYNC;
CREATE MATERIALIZED VIEW IF NOT EXISTS focus_landing_lines TO focus_lines AS
SELECT * EXCEPT (is_end, cost_texts) FROM focus_landing
WHERE NOT is_end;

CREATE OR REPLACE VIEW published_billing
AS SELECT * FROM billing WHERE day NOT IN (SELECT day FROM switched_days)
UNION ALL
SELECT * FROM next_billing WHERE day IN (SELECT day FROM switched_days)
COMMENT 'The bill that the chargebacks add up to, in the columns of billing';

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
    line_tags         Map(String, String) COMMENT 'tags of the billing line as the bill has them, by key',
    rule              LowCardinality(String) COMMENT 'configured rule that applies to the line; empty: the rule of its product type',
    passed_from       LowCardinality(String) COMMENT 'identity that a step of pass_on took the cost from; empty if none passed it on',
    billed_cost       Nullable(Decimal(38, 12)) COMMENT 'part of the cost on the invoice that belongs to the row; NULL if the bill has one cost',
    effective_cost    Nullable(Decimal(38, 12)) COMMENT 'part of the amortized cost that belongs to the row; NULL if the bill has one cost',
    list_cost         Nullable(Decimal(38, 12)) COMMENT 'part of the cost at list prices that belongs to the row; NULL if the bill has one cost'
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
    charge_category, service_provider, account_id, region_id, sku_id, line_tags, rule, passed_from,
    billed_cost, effective_cost, list_cost
FROM chargebacks
COMMENT 'Each part of each billing line, with the identity that it is charged to';
