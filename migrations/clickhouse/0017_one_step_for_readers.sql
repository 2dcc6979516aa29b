-- The bill and the chargebacks of a day are two tables, and no statement replaces a day in both. Readers of both still see a day
-- change in one step: while a day is being published, `published_billing` shows the bill that belongs to the chargebacks that are there
-- (docs/decisions/0032-one-step-for-readers.md).

ALTER TABLE chargebacks
    ADD COLUMN IF NOT EXISTS revision LowCardinality(String) DEFAULT '' COMMENT 'hash of what the day was calculated from; empty for days published before there was one' CODEC(ZSTD(1)) AFTER decimal_places;

CREATE TABLE IF NOT EXISTS next_billing AS billing;

ALTER TABLE next_billing MODIFY COMMENT 'Bills of days that are being published, until billing has them';

CREATE TABLE IF NOT EXISTS publishing_days
(
    day      Date   COMMENT 'UTC day that is being published',
    revision String COMMENT 'revision of its new chargebacks; empty when it has none',
    is_gone  Bool   COMMENT 'true when the day has no chargebacks any more'
)
ENGINE = MergeTree
ORDER BY day
COMMENT 'Days that are being published: their bill is in next_billing as soon as their new chargebacks are visible';

CREATE OR REPLACE VIEW switched_days
AS SELECT day FROM publishing_days
WHERE if(is_gone,
    day NOT IN (SELECT day FROM chargebacks WHERE day IN (SELECT day FROM publishing_days)),
    (day, revision) IN (SELECT day, toString(revision) FROM chargebacks WHERE day IN (SELECT day FROM publishing_days)))
COMMENT 'Days that are being published, whose new chargebacks are visible';

CREATE OR REPLACE VIEW published_billing
AS SELECT * FROM billing WHERE day NOT IN (SELECT day FROM switched_days)
UNION ALL
SELECT * FROM next_billing WHERE day IN (SELECT day FROM switched_days)
COMMENT 'The bill that the chargebacks add up to, in the columns of billing';

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
FROM published_billing
COMMENT 'The bill as it was gathered';

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
    SELECT day AS date, currency, sum(total_cost) AS billed, toDecimal128(0, 12) AS charged FROM published_billing GROUP BY date, currency
    UNION ALL
    SELECT date, currency, toDecimal128(0, 12), sum(hi + lo)
    FROM (SELECT toDate(timestamp, 'UTC') AS date, currency, sum(amount_hi) AS hi, sum(amount_lo) AS lo FROM chargebacks GROUP BY date, currency)
    GROUP BY date, currency
)
GROUP BY date, currency
COMMENT 'Proof that every cent of the bill was given to somebody';
