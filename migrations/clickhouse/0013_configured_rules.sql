-- Rules by configuration: they are chosen by the rule of a line instead of its product type, and identities can be looked up in maps.

ALTER TABLE allocation_rules
    ADD COLUMN IF NOT EXISTS rule LowCardinality(String) DEFAULT '' COMMENT 'configured rule that the tier belongs to; empty for the rule of a product type' AFTER rules_hash,
    MODIFY COLUMN kind LowCardinality(String) COMMENT 'usage, cost, fixed, even, owner, line or terminal',
    MODIFY COLUMN sources Array(LowCardinality(String)) COMMENT 'metrics (usage, cost, fixed) or scopes of identity sets (even, owner)',
    MODIFY COLUMN set_of LowCardinality(String) COMMENT 'resource, tenant, currency or currency@COLUMN: whose facts and identity sets count';

CREATE TABLE IF NOT EXISTS identity_maps
(
    map_hash String COMMENT 'hash of the whole map',
    value    String COMMENT 'value of the column of a line',
    identity String COMMENT 'whom the value stands for'
)
ENGINE = MergeTree
ORDER BY (map_hash, value)
COMMENT 'Whom values of columns name, by allocation.identity; maps never change, a changed file is another map';

-- The view of rows once more, with what their lines say; what rules by configuration say of a healthy row is no issue.
CREATE OR REPLACE VIEW chargeback_details
(
    date              Date                   COMMENT 'UTC day',
    timestamp         DateTime('UTC')        COMMENT 'start of the billed period, UTC',
    environment_id    LowCardinality(String) COMMENT 'environment of the resource, empty when there is none',
    resource_id       LowCardinality(String) COMMENT 'what was paid for',
    product_category  LowCardinality(String) COMMENT 'family of the product',
    product_type      LowCardinality(String) COMMENT 'product as the bill names it',
    identity_id       LowCardinality(String) COMMENT 'who pays; UNALLOCATED when nobody was found',
    cost_type         LowCardinality(String) COMMENT 'usage: by measured usage, to a sole owner or to whom the line names; shared: divided by cost, fixed shares or evenly, or unallocated',
    amount            Decimal(38, 12)        COMMENT 'cost given to the identity, in its currency',
    currency          LowCardinality(String) COMMENT 'ISO 4217 code of the amount',
    allocation_method LowCardinality(String) COMMENT 'usage_ratio, direct_owner, even_split, line_identity, cost_ratio, fixed_ratio or terminal',
    allocation_detail LowCardinality(String) COMMENT 'why this method applied',
    is_issue          Bool                   COMMENT 'true when somebody should look why the cost was allocated this way',
    is_provisional    Bool                   COMMENT 'true while the service waits for what is missing of the day: it may still change',
    dimension_id      UInt64                 COMMENT 'what tags hang on, as in tags',
    identity_name     LowCardinality(String) COMMENT 'name of the identity, empty when there is none',
    identity_type     LowCardinality(String) COMMENT 'kind of identity, empty when it is not known',
    team              LowCardinality(String) COMMENT 'team of the identity; UNASSIGNED without one, UNALLOCATED for nobody',
    resource_name     LowCardinality(String) COMMENT 'name of the resource, empty when there is none',
    resource_type     LowCardinality(String) COMMENT 'kind of resource, empty when it is not known',
    charge_category   LowCardinality(String) COMMENT 'Usage, Purchase, Tax, Credit or Adjustment; empty when the bill does not say',
    service_provider  LowCardinality(String) COMMENT 'who provides the service; empty when the bill does not say',
    account_id        LowCardinality(String) COMMENT 'account that is billed; empty when the bill does not say',
    region_id         LowCardinality(String) COMMENT 'region of the resource; empty when there is none',
    sku_id            LowCardinality(String) COMMENT 'what is priced; empty when the bill does not say',
    line_tags         Map(LowCardinality(String), String) COMMENT 'tags of the billing line as the bill has them, by key',
    rule              LowCardinality(String) COMMENT 'configured rule that took the line; empty: the rule of its product type'
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
COMMENT 'Every part of every bill, with the identity that pays it';
