-- Names, types and teams beside the facts: a copy of the inventory, which stays in Postgres. A copy is written whole under a number of
-- its own and shown by one row in `inventory_generations`, so that readers see one copy or the next, never parts of two.

CREATE TABLE IF NOT EXISTS inventory_names
(
    generation   UInt64                 COMMENT 'copy of the inventory that the row is part of',
    kind         LowCardinality(String) COMMENT 'identity or resource',
    entity_id    String                 COMMENT 'id, as facts carry it',
    entity_type  LowCardinality(String) COMMENT 'identity_type or resource_type',
    display_name String                 COMMENT 'name as people read it, empty when there is none',
    team         LowCardinality(String) COMMENT 'of identities: UNASSIGNED without a team, UNALLOCATED for nobody; empty for resources',
    parent_id    String                 COMMENT 'of resources: what it is part of, empty when there is none',
    owner_id     String                 COMMENT 'of resources: identity that owns it, empty when there is none',
    is_deleted   Bool                   COMMENT 'true when the upstream does not have it any more'
)
ENGINE = MergeTree
PARTITION BY generation
ORDER BY (kind, entity_id)
COMMENT 'Copy of the inventory in Postgres, for reading beside the facts';

CREATE TABLE IF NOT EXISTS inventory_generations
(
    generation   UInt64 COMMENT 'number of the copy; the highest is shown',
    content_hash String COMMENT 'hash of all that is copied: the same inventory is not written again'
)
ENGINE = MergeTree
PARTITION BY generation
ORDER BY generation
COMMENT 'Which copies of the inventory are whole';

CREATE OR REPLACE VIEW identities
(
    identity_id   String                 COMMENT 'id, as facts carry it',
    identity_name String                 COMMENT 'name as people read it, empty when there is none',
    identity_type LowCardinality(String) COMMENT 'kind of identity',
    team          LowCardinality(String) COMMENT 'team; UNASSIGNED without one, UNALLOCATED for nobody',
    is_deleted    Bool                   COMMENT 'true when the upstream does not have it any more'
)
AS SELECT entity_id AS identity_id, display_name AS identity_name, entity_type AS identity_type, team, is_deleted
FROM inventory_names
WHERE kind = 'identity' AND generation = (SELECT max(generation) FROM inventory_generations)
COMMENT 'Who can pay, with names and teams';

CREATE OR REPLACE VIEW resources
(
    resource_id   String                 COMMENT 'id, as facts carry it',
    resource_name String                 COMMENT 'name as people read it, empty when there is none',
    resource_type LowCardinality(String) COMMENT 'kind of resource',
    parent_id     String                 COMMENT 'what it is part of, empty when there is none',
    owner_id      String                 COMMENT 'identity that owns it, empty when there is none',
    is_deleted    Bool                   COMMENT 'true when the upstream does not have it any more'
)
AS SELECT entity_id AS resource_id, display_name AS resource_name, entity_type AS resource_type, parent_id, owner_id, is_deleted
FROM inventory_names
WHERE kind = 'resource' AND generation = (SELECT max(generation) FROM inventory_generations)
COMMENT 'What can be paid for, with names; without topics';

-- The views below also show what is provisional.
ALTER TABLE chargebacks
    ADD COLUMN IF NOT EXISTS provisional Bool DEFAULT false COMMENT 'true while the service waits for what is missing of the day: the row may still change' CODEC(ZSTD(1)) AFTER metric;

-- Names come by look-up in constant arrays, not by joins: a query that does not ask for them pays next to nothing, and rows keep
-- their order.

CREATE OR REPLACE VIEW chargeback_details
(
    date              Date                   COMMENT 'UTC day',
    timestamp         DateTime('UTC')        COMMENT 'start of the billed period, UTC',
    environment_id    LowCardinality(String) COMMENT 'environment of the resource, empty when there is none',
    resource_id       LowCardinality(String) COMMENT 'what was paid for',
    product_category  LowCardinality(String) COMMENT 'family of the product',
    product_type      LowCardinality(String) COMMENT 'product as the bill names it',
    identity_id       LowCardinality(String) COMMENT 'who pays; UNALLOCATED when nobody was found',
    cost_type         LowCardinality(String) COMMENT 'usage: by measured usage or sole owner; shared: divided evenly or unallocated',
    amount            Decimal(38, 12)        COMMENT 'cost given to the identity, in the currency of the bill',
    allocation_method LowCardinality(String) COMMENT 'usage_ratio, direct_owner, even_split or terminal',
    allocation_detail LowCardinality(String) COMMENT 'why this method applied',
    is_issue          Bool                   COMMENT 'true when somebody should look why the cost was allocated this way',
    is_provisional    Bool                   COMMENT 'true while the service waits for what is missing of the day: it may still change',
    dimension_id      UInt64                 COMMENT 'what tags hang on, as in tags',
    identity_name     LowCardinality(String) COMMENT 'name of the identity, empty when there is none',
    identity_type     LowCardinality(String) COMMENT 'kind of identity, empty when it is not known',
    team              LowCardinality(String) COMMENT 'team of the identity; UNASSIGNED without one, UNALLOCATED for nobody',
    resource_name     LowCardinality(String) COMMENT 'name of the resource, empty when there is none',
    resource_type     LowCardinality(String) COMMENT 'kind of resource, empty when it is not known'
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
    amount_hi + amount_lo AS amount, allocation_method, allocation_detail,
    allocation_detail NOT IN ('usage_ratio_allocation', 'even_split_allocation', 'direct_owner_allocation', 'shared_by_design', 'unattributable_by_design') AS is_issue, provisional AS is_provisional,
    if(notEmpty(collided.1) AND has(collided.1, dimension_fingerprint), collided.2[indexOf(collided.1, dimension_fingerprint)],
        bitAnd(reinterpretAsUInt64(dimension_fingerprint), 9007199254740991)) AS dimension_id,
    transform(identity_id, known_identities.1, known_identities.2, '') AS identity_name,
    transform(identity_id, known_identities.1, known_identities.3, '') AS identity_type,
    transform(identity_id, known_identities.1, known_identities.4, 'UNASSIGNED') AS team,
    transform(resource_id, known_resources.1, known_resources.2, '') AS resource_name,
    transform(resource_id, known_resources.1, known_resources.3, '') AS resource_type
FROM chargebacks
COMMENT 'Every part of every bill, with the identity that pays it';

CREATE OR REPLACE VIEW daily_cost_by_identity
(
    date          Date                   COMMENT 'UTC day',
    identity_id   LowCardinality(String) COMMENT 'who pays; UNALLOCATED when nobody was found',
    usage_amount  Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in the currency of the bill',
    shared_amount Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in the currency of the bill',
    total_amount  Decimal(38, 12)        COMMENT 'usage_amount + shared_amount',
    row_count     UInt64                 COMMENT 'number of chargebacks',
    is_provisional Bool                  COMMENT 'true while the service waits for what is missing of the day: it may still change',
    identity_name LowCardinality(String) COMMENT 'name of the identity, empty when there is none',
    identity_type LowCardinality(String) COMMENT 'kind of identity, empty when it is not known',
    team          LowCardinality(String) COMMENT 'team of the identity; UNASSIGNED without one, UNALLOCATED for nobody'
)
AS WITH
    (SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities) AS known_identities
SELECT
    date, identity_id, usage_amount, shared_amount, total_amount, row_count,
    date IN (SELECT day FROM chargebacks WHERE provisional) AS is_provisional,
    transform(identity_id, known_identities.1, known_identities.2, '') AS identity_name,
    transform(identity_id, known_identities.1, known_identities.3, '') AS identity_type,
    transform(identity_id, known_identities.1, known_identities.4, 'UNASSIGNED') AS team
FROM (
    SELECT
        toDate(timestamp, 'UTC') AS date, identity_id,
        sumIf(hi + lo, cost_type = 'usage') AS usage_amount, sumIf(hi + lo, cost_type = 'shared') AS shared_amount,
        sum(hi + lo) AS total_amount, sum(n) AS row_count
    FROM (SELECT timestamp, identity_id, cost_type, sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n FROM chargebacks GROUP BY timestamp, identity_id, cost_type)
    GROUP BY date, identity_id
)
COMMENT 'What each identity cost per day';

CREATE OR REPLACE VIEW daily_cost_by_team
(
    date          Date                   COMMENT 'UTC day',
    team          LowCardinality(String) COMMENT 'team of the identities; UNASSIGNED without one, UNALLOCATED for nobody',
    usage_amount  Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in the currency of the bill',
    shared_amount Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in the currency of the bill',
    total_amount  Decimal(38, 12)        COMMENT 'usage_amount + shared_amount',
    row_count     UInt64                 COMMENT 'number of chargebacks',
    is_provisional Bool                  COMMENT 'true while the service waits for what is missing of the day: it may still change'
)
AS SELECT
    date, team, sum(usage_amount) AS usage_amount, sum(shared_amount) AS shared_amount, sum(total_amount) AS total_amount, sum(row_count) AS row_count,
    max(is_provisional) AS is_provisional
FROM daily_cost_by_identity
GROUP BY date, team
COMMENT 'What the identities of each team cost per day';

CREATE OR REPLACE VIEW daily_cost_by_resource
(
    date             Date                   COMMENT 'UTC day',
    environment_id   LowCardinality(String) COMMENT 'environment of the resource, empty when there is none',
    resource_id      LowCardinality(String) COMMENT 'what was paid for',
    product_category LowCardinality(String) COMMENT 'family of the product',
    product_type     LowCardinality(String) COMMENT 'product as the bill names it',
    usage_amount     Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in the currency of the bill',
    shared_amount    Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in the currency of the bill',
    total_amount     Decimal(38, 12)        COMMENT 'usage_amount + shared_amount',
    row_count        UInt64                 COMMENT 'number of chargebacks',
    is_provisional   Bool                   COMMENT 'true while the service waits for what is missing of the day: it may still change',
    resource_name    LowCardinality(String) COMMENT 'name of the resource, empty when there is none',
    resource_type    LowCardinality(String) COMMENT 'kind of resource, empty when it is not known'
)
AS WITH
    (SELECT (groupArray(resource_id), groupArray(resource_name), groupArray(toString(resource_type))) FROM resources) AS known_resources
SELECT
    date, environment_id, resource_id, product_category, product_type, usage_amount, shared_amount, total_amount, row_count,
    date IN (SELECT day FROM chargebacks WHERE provisional) AS is_provisional,
    transform(resource_id, known_resources.1, known_resources.2, '') AS resource_name,
    transform(resource_id, known_resources.1, known_resources.3, '') AS resource_type
FROM (
    SELECT
        toDate(timestamp, 'UTC') AS date, env_id AS environment_id, resource_id, product_category, product_type,
        sumIf(hi + lo, cost_type = 'usage') AS usage_amount, sumIf(hi + lo, cost_type = 'shared') AS shared_amount,
        sum(hi + lo) AS total_amount, sum(n) AS row_count
    FROM (
        SELECT timestamp, resource_id, product_type, product_category, env_id, cost_type, sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n
        FROM chargebacks GROUP BY timestamp, resource_id, product_type, product_category, env_id, cost_type
    )
    GROUP BY date, environment_id, resource_id, product_category, product_type
)
COMMENT 'What each resource and product cost per day';

CREATE OR REPLACE VIEW billing_line_items
(
    date             Date                   COMMENT 'UTC day',
    timestamp        DateTime('UTC')        COMMENT 'start of the billed period, UTC',
    environment_id   LowCardinality(String) COMMENT 'environment of the resource, empty when there is none',
    resource_id      LowCardinality(String) COMMENT 'what was paid for',
    product_category LowCardinality(String) COMMENT 'family of the product',
    product_type     LowCardinality(String) COMMENT 'product as the bill names it',
    quantity         Decimal(38, 12)        COMMENT 'billed quantity, in the unit of the product',
    unit_price       Decimal(38, 12)        COMMENT 'price of one unit',
    total_cost       Decimal(38, 12)        COMMENT 'cost of the line, negative for refunds',
    currency         LowCardinality(String) COMMENT 'ISO 4217 code',
    resource_name    LowCardinality(String) COMMENT 'name of the resource, empty when there is none',
    resource_type    LowCardinality(String) COMMENT 'kind of resource, empty when it is not known'
)
AS WITH
    (SELECT (groupArray(resource_id), groupArray(resource_name), groupArray(toString(resource_type))) FROM resources) AS known_resources
SELECT
    day AS date, timestamp, env_id AS environment_id, resource_id, product_category, product_type, quantity, unit_price, total_cost, currency,
    transform(resource_id, known_resources.1, known_resources.2, '') AS resource_name,
    transform(resource_id, known_resources.1, known_resources.3, '') AS resource_type
FROM billing
COMMENT 'The bill as it was gathered';
