-- Views for BI tools: names and units that need no knowledge of how the facts are stored. Filters on their columns reach the
-- tables below, and the daily sums are answered from the tables' projections. Amounts are exact decimals in the
-- currency of the billing line.

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
    is_issue          Bool                   COMMENT 'true when somebody should look why the cost was allocated this way'
)
AS SELECT
    day AS date, timestamp, env_id AS environment_id, resource_id, product_category, product_type, identity_id, cost_type,
    amount_hi + amount_lo AS amount, allocation_method, allocation_detail,
    allocation_detail NOT IN ('usage_ratio_allocation', 'even_split_allocation', 'direct_owner_allocation', 'shared_by_design', 'unattributable_by_design') AS is_issue
FROM chargebacks
COMMENT 'Every part of every bill, with the identity that pays it';

CREATE OR REPLACE VIEW daily_cost_by_identity
(
    date          Date                   COMMENT 'UTC day',
    identity_id   LowCardinality(String) COMMENT 'who pays; UNALLOCATED when nobody was found',
    usage_amount  Decimal(38, 12)        COMMENT 'cost by measured usage or sole ownership, in the currency of the bill',
    shared_amount Decimal(38, 12)        COMMENT 'cost divided evenly or unallocated, in the currency of the bill',
    total_amount  Decimal(38, 12)        COMMENT 'usage_amount + shared_amount',
    row_count     UInt64                 COMMENT 'number of chargebacks'
)
AS SELECT
    toDate(timestamp, 'UTC') AS date, identity_id,
    sumIf(hi + lo, cost_type = 'usage') AS usage_amount, sumIf(hi + lo, cost_type = 'shared') AS shared_amount,
    sum(hi + lo) AS total_amount, sum(n) AS row_count
FROM (SELECT timestamp, identity_id, cost_type, sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n FROM chargebacks GROUP BY timestamp, identity_id, cost_type)
GROUP BY date, identity_id
COMMENT 'What each identity cost per day';

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
    row_count        UInt64                 COMMENT 'number of chargebacks'
)
AS SELECT
    toDate(timestamp, 'UTC') AS date, env_id AS environment_id, resource_id, product_category, product_type,
    sumIf(hi + lo, cost_type = 'usage') AS usage_amount, sumIf(hi + lo, cost_type = 'shared') AS shared_amount,
    sum(hi + lo) AS total_amount, sum(n) AS row_count
FROM (
    SELECT timestamp, resource_id, product_type, product_category, env_id, cost_type, sum(amount_hi) AS hi, sum(amount_lo) AS lo, count() AS n
    FROM chargebacks GROUP BY timestamp, resource_id, product_type, product_category, env_id, cost_type
)
GROUP BY date, environment_id, resource_id, product_category, product_type
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
    currency         LowCardinality(String) COMMENT 'ISO 4217 code'
)
AS SELECT day AS date, timestamp, env_id AS environment_id, resource_id, product_category, product_type, quantity, unit_price, total_cost, currency
FROM billing
COMMENT 'The bill as it was gathered';

CREATE OR REPLACE VIEW usage_quantities
(
    date        Date                   COMMENT 'UTC day',
    hour        DateTime('UTC')        COMMENT 'start of the measured period, UTC',
    metric      LowCardinality(String) COMMENT 'what was measured',
    resource_id LowCardinality(String) COMMENT 'resource it was measured on',
    identity_id LowCardinality(String) COMMENT 'identity it was measured for',
    quantity    Decimal(38, 6)         COMMENT 'measured quantity, in the unit of the metric'
)
AS SELECT day AS date, timestamp AS hour, metric, resource_id, identity_id, reinterpret(micro_units, 'Decimal(38, 6)') AS quantity
FROM usage
COMMENT 'Measured usage that costs are split by';

CREATE OR REPLACE VIEW daily_reconciliation
(
    date        Date            COMMENT 'UTC day',
    billing     Decimal(38, 12) COMMENT 'sum of the bill',
    chargebacks Decimal(38, 12) COMMENT 'sum of the chargebacks',
    difference  Decimal(38, 12) COMMENT 'chargebacks minus billing: always 0'
)
AS SELECT date, sum(billed) AS billing, sum(charged) AS chargebacks, sum(charged) - sum(billed) AS difference
FROM (
    SELECT day AS date, sum(total_cost) AS billed, toDecimal128(0, 12) AS charged FROM billing GROUP BY date
    UNION ALL
    SELECT date, toDecimal128(0, 12), sum(hi + lo)
    FROM (SELECT toDate(timestamp, 'UTC') AS date, sum(amount_hi) AS hi, sum(amount_lo) AS lo FROM chargebacks GROUP BY date)
    GROUP BY date
)
GROUP BY date
COMMENT 'Proof that every cent of the bill was given to somebody';
