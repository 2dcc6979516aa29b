-- The sums of chargebacks, in tables of their own with a partition a month. They were projections, so each day's part had three more parts inside:
-- a read of 200 days of a small tenant spent nearly all of its time opening them. A publish makes the sums of its days anew and replaces the months
-- they are in; while it does, `published_sums_by_…` takes the days that are announced from the chargebacks themselves
-- (docs/decisions/0047-sums-by-month.md).

CREATE TABLE IF NOT EXISTS sums_by_identity
(
    day         Date                   COMMENT 'UTC day' CODEC(ZSTD(1)),
    timestamp   DateTime('UTC')        COMMENT 'timestamp of the billing lines, UTC' CODEC(Delta, ZSTD(1)),
    identity_id LowCardinality(String) COMMENT 'who pays; UNALLOCATED when nobody was found' CODEC(ZSTD(1)),
    cost_type   LowCardinality(String) COMMENT 'usage or shared, as in chargebacks' CODEC(ZSTD(1)),
    currency    LowCardinality(String) COMMENT 'ISO 4217 code of the amounts' CODEC(ZSTD(1)),
    provisional Bool                   COMMENT 'true while the service waits for what is missing of the day: the sums may still change' CODEC(ZSTD(1)),
    amount_hi   Decimal(38, 4)         COMMENT 'sum of amount_hi' CODEC(GCD, ZSTD(1)),
    amount_lo   Decimal(38, 12)        COMMENT 'sum of amount_lo' CODEC(ZSTD(1)),
    row_count   UInt64                 COMMENT 'number of chargebacks' CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (identity_id, timestamp, cost_type, currency, provisional)
PRIMARY KEY (identity_id, timestamp)
COMMENT 'What each identity cost by instant: the sums of chargebacks, a partition a month';

CREATE TABLE IF NOT EXISTS sums_by_resource
(
    day               Date                   COMMENT 'UTC day' CODEC(ZSTD(1)),
    timestamp         DateTime('UTC')        COMMENT 'timestamp of the billing lines, UTC' CODEC(Delta, ZSTD(1)),
    resource_id       LowCardinality(String) COMMENT 'what was paid for' CODEC(ZSTD(1)),
    product_type      LowCardinality(String) COMMENT 'product as the bill names it' CODEC(ZSTD(1)),
    product_category  LowCardinality(String) COMMENT 'family of the product' CODEC(ZSTD(1)),
    env_id            LowCardinality(String) COMMENT 'environment of the resource, empty when there is none' CODEC(ZSTD(1)),
    cost_type         LowCardinality(String) COMMENT 'usage or shared, as in chargebacks' CODEC(ZSTD(1)),
    allocation_method LowCardinality(String) COMMENT 'how the cost was allocated, as in chargebacks' CODEC(ZSTD(1)),
    allocation_detail LowCardinality(String) COMMENT 'why this method applied' CODEC(ZSTD(1)),
    currency          LowCardinality(String) COMMENT 'ISO 4217 code of the amounts' CODEC(ZSTD(1)),
    provisional       Bool                   COMMENT 'true while the service waits for what is missing of the day: the sums may still change' CODEC(ZSTD(1)),
    amount_hi         Decimal(38, 4)         COMMENT 'sum of amount_hi' CODEC(GCD, ZSTD(1)),
    amount_lo         Decimal(38, 12)        COMMENT 'sum of amount_lo' CODEC(ZSTD(1)),
    row_count         UInt64                 COMMENT 'number of chargebacks' CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (resource_id, product_type, timestamp, env_id, product_category, cost_type, allocation_method, allocation_detail, currency, provisional)
PRIMARY KEY (resource_id, product_type, timestamp)
COMMENT 'What each resource and product cost by instant: the sums of chargebacks, a partition a month';

CREATE TABLE IF NOT EXISTS sums_by_reason
(
    day               Date                   COMMENT 'UTC day' CODEC(ZSTD(1)),
    timestamp         DateTime('UTC')        COMMENT 'timestamp of the billing lines, UTC' CODEC(Delta, ZSTD(1)),
    product_type      LowCardinality(String) COMMENT 'product as the bill names it' CODEC(ZSTD(1)),
    cost_type         LowCardinality(String) COMMENT 'usage or shared, as in chargebacks' CODEC(ZSTD(1)),
    allocation_method LowCardinality(String) COMMENT 'how the cost was allocated, as in chargebacks' CODEC(ZSTD(1)),
    allocation_detail LowCardinality(String) COMMENT 'why this method applied' CODEC(ZSTD(1)),
    currency          LowCardinality(String) COMMENT 'ISO 4217 code of the amounts' CODEC(ZSTD(1)),
    provisional       Bool                   COMMENT 'true while the service waits for what is missing of the day: the sums may still change' CODEC(ZSTD(1)),
    amount_hi         Decimal(38, 4)         COMMENT 'sum of amount_hi' CODEC(GCD, ZSTD(1)),
    amount_lo         Decimal(38, 12)        COMMENT 'sum of amount_lo' CODEC(ZSTD(1)),
    row_count         UInt64                 COMMENT 'number of chargebacks' CODEC(T64, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (timestamp, product_type, cost_type, allocation_method, allocation_detail, currency, provisional)
PRIMARY KEY (timestamp)
COMMENT 'What was allocated in which way by instant: the sums of chargebacks, a partition a month';

-- From here on nothing that an older version has staged can be published: its tables have projections.
ALTER TABLE chargebacks DROP PROJECTION IF EXISTS by_identity;

ALTER TABLE chargebacks DROP PROJECTION IF EXISTS by_resource;

ALTER TABLE chargebacks DROP PROJECTION IF EXISTS by_reason;

-- What is published already. Each table is emptied first, so that this can be run again.
TRUNCATE TABLE sums_by_identity SYNC;

INSERT INTO sums_by_identity
SELECT day, timestamp, identity_id, cost_type, currency, provisional, sum(amount_hi), sum(amount_lo), count()
FROM chargebacks
GROUP BY day, timestamp, identity_id, cost_type, currency, provisional
SETTINGS max_partitions_per_insert_block = 10000, max_bytes_before_external_group_by = 300000000, insert_deduplicate = 0;

TRUNCATE TABLE sums_by_resource SYNC;

INSERT INTO sums_by_resource
SELECT day, timestamp, resource_id, product_type, product_category, env_id, cost_type, allocation_method, allocation_detail, currency, provisional, sum(amount_hi), sum(amount_lo), count()
FROM chargebacks
GROUP BY day, timestamp, resource_id, product_type, product_category, env_id, cost_type, allocation_method, allocation_detail, currency, provisional
SETTINGS max_partitions_per_insert_block = 10000, max_bytes_before_external_group_by = 300000000, insert_deduplicate = 0;

TRUNCATE TABLE sums_by_reason SYNC;

INSERT INTO sums_by_reason
SELECT day, timestamp, product_type, cost_type, allocation_method, allocation_detail, currency, provisional, sum(amount_hi), sum(amount_lo), sum(row_count)
FROM sums_by_resource
GROUP BY day, timestamp, product_type, cost_type, allocation_method, allocation_detail, currency, provisional
SETTINGS max_partitions_per_insert_block = 10000, max_bytes_before_external_group_by = 300000000, insert_deduplicate = 0;

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

-- The views that read sums.

CREATE OR REPLACE VIEW daily_cost_by_identity
(
    date           Date                   COMMENT 'UTC day',
    identity_id    LowCardinality(String) COMMENT 'who pays; UNALLOCATED when nobody was found',
    currency       LowCardinality(String) COMMENT 'ISO 4217 code of the amounts',
    usage_amount   Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in its currency',
    shared_amount  Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in its currency',
    total_amount   Decimal(38, 12)        COMMENT 'usage_amount + shared_amount',
    row_count      UInt64                 COMMENT 'number of chargebacks',
    is_provisional Bool                   COMMENT 'true while the service waits for what is missing of the day: it may still change',
    identity_name  LowCardinality(String) COMMENT 'name of the identity, empty when there is none',
    identity_type  LowCardinality(String) COMMENT 'kind of identity, empty when it is not known',
    team           LowCardinality(String) COMMENT 'team of the identity; UNASSIGNED without one, UNALLOCATED for nobody'
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
COMMENT 'What each identity cost per day';

CREATE OR REPLACE VIEW daily_cost_by_resource
(
    date             Date                   COMMENT 'UTC day',
    environment_id   LowCardinality(String) COMMENT 'environment of the resource, empty when there is none',
    resource_id      LowCardinality(String) COMMENT 'what was paid for',
    product_category LowCardinality(String) COMMENT 'family of the product',
    product_type     LowCardinality(String) COMMENT 'product as the bill names it',
    currency         LowCardinality(String) COMMENT 'ISO 4217 code of the amounts',
    usage_amount     Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in its currency',
    shared_amount    Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in its currency',
    total_amount     Decimal(38, 12)        COMMENT 'usage_amount + shared_amount',
    row_count        UInt64                 COMMENT 'number of chargebacks',
    is_provisional   Bool                   COMMENT 'true while the service waits for what is missing of the day: it may still change',
    resource_name    LowCardinality(String) COMMENT 'name of the resource, empty when there is none',
    resource_type    LowCardinality(String) COMMENT 'kind of resource, empty when it is not known'
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
COMMENT 'What each resource and product cost per day';

-- Reads of the service say in their own text that nothing is being published.
DROP VIEW IF EXISTS settled_billing;
