-- Every fact has a currency, and amounts of two are never added: sums are by currency, and so is what a line is told apart by.
-- Until this version every ecosystem billed in USD alone, so the default says of stored rows what is true of them. New rows
-- always state their currency. `billing` has had it from the beginning.

ALTER TABLE chargebacks
    ADD COLUMN IF NOT EXISTS currency LowCardinality(String) DEFAULT 'USD' COMMENT 'ISO 4217 code, that of the billing line' CODEC(ZSTD(1)) AFTER product_type,
    MODIFY COMMENT 'Every part of every billing line, given to one identity; sums to billing exactly, per line and currency';

ALTER TABLE topic_attributions
    ADD COLUMN IF NOT EXISTS currency LowCardinality(String) DEFAULT 'USD' COMMENT 'ISO 4217 code, that of the billing line' CODEC(ZSTD(1)) AFTER product_type,
    MODIFY COMMENT 'Every billing line of a Kafka cluster, attributed to its topics; sums to those lines exactly, per line and currency';

-- The projections with the currency in their groups. Those of stored parts are made in the background, which may take minutes:
-- until then reads of these parts take the table, are as exact, and slower. What is staged with the old ones is dropped by
-- the next run, as after every change of a table, and calculated anew.
ALTER TABLE chargebacks DROP PROJECTION IF EXISTS by_identity;

ALTER TABLE chargebacks DROP PROJECTION IF EXISTS by_resource;

ALTER TABLE chargebacks ADD PROJECTION IF NOT EXISTS by_identity
(
    SELECT timestamp, identity_id, cost_type, currency, sum(amount_hi), sum(amount_lo), count()
    GROUP BY timestamp, identity_id, cost_type, currency
);

ALTER TABLE chargebacks ADD PROJECTION IF NOT EXISTS by_resource
(
    SELECT timestamp, resource_id, product_type, product_category, env_id, cost_type, allocation_method, currency,
           sum(amount_hi), sum(amount_lo), count()
    GROUP BY timestamp, resource_id, product_type, product_category, env_id, cost_type, allocation_method, currency
);

ALTER TABLE chargebacks MATERIALIZE PROJECTION by_identity SETTINGS mutations_sync = 0;

ALTER TABLE chargebacks MATERIALIZE PROJECTION by_resource SETTINGS mutations_sync = 0;

-- The views once more, with the currency.

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
    amount            Decimal(38, 12)        COMMENT 'cost given to the identity, in its currency',
    currency          LowCardinality(String) COMMENT 'ISO 4217 code of the amount',
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
    amount_hi + amount_lo AS amount, currency, allocation_method, allocation_detail,
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
    currency      LowCardinality(String) COMMENT 'ISO 4217 code of the amounts',
    usage_amount  Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in its currency',
    shared_amount Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in its currency',
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
    date, identity_id, currency, usage_amount, shared_amount, total_amount, row_count,
    date IN (SELECT day FROM chargebacks WHERE provisional) AS is_provisional,
    transform(identity_id, known_identities.1, known_identities.2, '') AS identity_name,
    transform(identity_id, known_identities.1, known_identities.3, '') AS identity_type,
    transform(identity_id, known_identities.1, known_identities.4, 'UNASSIGNED') AS team
FROM (
    SELECT
        toDate(timestamp, 'UTC') AS date, identity_id, currency,
        sumIf(hi + lo, cost_type = 'usage') AS usage_amount, sumIf(hi + lo, cost_type = 'shared') AS shared_amount,
        sum(hi + lo) AS total_amount, sum(n) AS row_count
    FROM (SELECT timestamp, identity_id, cost_type, currency, sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n FROM chargebacks GROUP BY timestamp, identity_id, cost_type, currency)
    GROUP BY date, identity_id, currency
)
COMMENT 'What each identity cost per day';

CREATE OR REPLACE VIEW daily_cost_by_team
(
    date          Date                   COMMENT 'UTC day',
    team          LowCardinality(String) COMMENT 'team of the identities; UNASSIGNED without one, UNALLOCATED for nobody',
    currency      LowCardinality(String) COMMENT 'ISO 4217 code of the amounts',
    usage_amount  Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in its currency',
    shared_amount Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in its currency',
    total_amount  Decimal(38, 12)        COMMENT 'usage_amount + shared_amount',
    row_count     UInt64                 COMMENT 'number of chargebacks',
    is_provisional Bool                  COMMENT 'true while the service waits for what is missing of the day: it may still change'
)
AS SELECT
    date, team, currency, sum(usage_amount) AS usage_amount, sum(shared_amount) AS shared_amount, sum(total_amount) AS total_amount, sum(row_count) AS row_count,
    max(is_provisional) AS is_provisional
FROM daily_cost_by_identity
GROUP BY date, team, currency
COMMENT 'What the identities of each team cost per day';

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
    date, environment_id, resource_id, product_category, product_type, currency, usage_amount, shared_amount, total_amount, row_count,
    date IN (SELECT day FROM chargebacks WHERE provisional) AS is_provisional,
    transform(resource_id, known_resources.1, known_resources.2, '') AS resource_name,
    transform(resource_id, known_resources.1, known_resources.3, '') AS resource_type
FROM (
    SELECT
        toDate(timestamp, 'UTC') AS date, env_id AS environment_id, resource_id, product_category, product_type, currency,
        sumIf(hi + lo, cost_type = 'usage') AS usage_amount, sumIf(hi + lo, cost_type = 'shared') AS shared_amount,
        sum(hi + lo) AS total_amount, sum(n) AS row_count
    FROM (
        SELECT timestamp, resource_id, product_type, product_category, env_id, cost_type, currency, sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n
        FROM chargebacks GROUP BY timestamp, resource_id, product_type, product_category, env_id, cost_type, currency
    )
    GROUP BY date, environment_id, resource_id, product_category, product_type, currency
)
COMMENT 'What each resource and product cost per day';

CREATE OR REPLACE VIEW daily_cost_by_tag
(
    date          Date                   COMMENT 'UTC day',
    tag_key       LowCardinality(String) COMMENT 'key of the tag',
    display_name  String                 COMMENT 'name of the tag as people read it',
    currency      LowCardinality(String) COMMENT 'ISO 4217 code of the amounts',
    usage_amount  Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in its currency',
    shared_amount Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in its currency',
    total_amount  Decimal(38, 12)        COMMENT 'usage_amount + shared_amount',
    row_count     UInt64                 COMMENT 'number of chargebacks',
    is_provisional Bool                  COMMENT 'true while the service waits for what is missing of the day: it may still change'
)
AS SELECT
    c.day AS date, t.tag_key AS tag_key, t.display_name AS display_name, c.currency AS currency,
    sumIf(c.hi + c.lo, c.cost_type = 'usage') AS usage_amount, sumIf(c.hi + c.lo, c.cost_type = 'shared') AS shared_amount,
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
    ANY INNER JOIN dimensions AS d ON m.dimension_id = d.dimension_id
) AS t
ON c.ecosystem = t.ecosystem AND c.tenant_id = t.tenant_id AND c.env_id = t.env_id AND c.resource_id = t.resource_id
    AND c.product_category = t.product_category AND c.product_type = t.product_type AND c.identity_id = t.identity_id
    AND c.cost_type = t.cost_type
GROUP BY date, tag_key, display_name, currency
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
    amount              Decimal(38, 12)        COMMENT 'cost attributed to the topic, in its currency',
    currency            LowCardinality(String) COMMENT 'ISO 4217 code of the amount',
    attribution_method  LowCardinality(String) COMMENT 'bytes_ratio, retained_bytes_ratio, even_split or terminal',
    attribution_detail  LowCardinality(String) COMMENT 'why this method applied',
    is_issue            Bool                   COMMENT 'true when somebody should look why the cost was attributed this way',
    is_provisional      Bool                   COMMENT 'true while the service waits for what is missing of the day: it may still change'
)
AS SELECT
    day AS date, timestamp, env_id AS environment_id, cluster_resource_id, product_category, product_type, topic_name,
    amount_hi + amount_lo AS amount, currency, attribution_method, attribution_detail,
    attribution_detail NOT IN ('usage_ratio_allocation', 'even_split_allocation') AS is_issue, provisional AS is_provisional
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
    is_provisional      Bool                   COMMENT 'true while the service waits for what is missing of the day: it may still change'
)
AS SELECT
    day AS date, env_id AS environment_id, cluster_resource_id, topic_name, currency,
    sum(amount_hi) + sum(amount_lo) AS total_amount, count() AS row_count, max(provisional) AS is_provisional
FROM topic_attributions
GROUP BY date, environment_id, cluster_resource_id, topic_name, currency
COMMENT 'What each topic cost per day';

CREATE OR REPLACE VIEW daily_reconciliation
(
    date        Date                   COMMENT 'UTC day',
    currency    LowCardinality(String) COMMENT 'ISO 4217 code of the sums',
    billing     Decimal(38, 12)        COMMENT 'sum of the bill',
    chargebacks Decimal(38, 12)        COMMENT 'sum of the chargebacks',
    difference  Decimal(38, 12)        COMMENT 'chargebacks minus billing: always 0'
)
AS SELECT date, currency, sum(billed) AS billing, sum(charged) AS chargebacks, sum(charged) - sum(billed) AS difference
FROM (
    SELECT day AS date, currency, sum(total_cost) AS billed, toDecimal128(0, 12) AS charged FROM billing GROUP BY date, currency
    UNION ALL
    SELECT date, currency, toDecimal128(0, 12), sum(hi + lo)
    FROM (SELECT toDate(timestamp, 'UTC') AS date, currency, sum(amount_hi) AS hi, sum(amount_lo) AS lo FROM chargebacks GROUP BY date, currency)
    GROUP BY date, currency
)
GROUP BY date, currency
COMMENT 'Proof that every cent of the bill was given to somebody';
