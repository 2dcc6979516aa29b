-- Usage in a large unit (terabytes, shares of a fleet) may be far below a millionth of it. Such quantities are stored with more decimal places.
ALTER TABLE usage ADD COLUMN IF NOT EXISTS scale UInt8 DEFAULT 0 COMMENT 'decimal places of micro_units beyond six; the same for all of a day, metric and resource' CODEC(ZSTD(1));

ALTER TABLE topic_usage ADD COLUMN IF NOT EXISTS scale UInt8 DEFAULT 0 COMMENT 'decimal places of micro_units beyond six; the same for all of a day, metric and cluster' CODEC(ZSTD(1));

ALTER TABLE usage_uploads ADD COLUMN IF NOT EXISTS scale UInt8 DEFAULT 0 COMMENT 'decimal places of micro_units beyond six' CODEC(ZSTD(1));

CREATE OR REPLACE VIEW usage_quantities
(
    date        Date                   COMMENT 'UTC day',
    hour        DateTime('UTC')        COMMENT 'start of the measured period, UTC',
    metric      LowCardinality(String) COMMENT 'what was measured',
    resource_id LowCardinality(String) COMMENT 'resource it was measured on',
    identity_id LowCardinality(String) COMMENT 'identity it was measured for',
    quantity    Decimal(38, 12)        COMMENT 'measured quantity, in the unit of the metric; what is below the twelfth place is cut off'
)
AS SELECT day AS date, timestamp AS hour, metric, resource_id, identity_id,
    reinterpret(toInt128(if(scale <= 6, micro_units * intExp10(6 - least(scale, 6)), intDiv(micro_units, toInt128(exp10(least(scale, 28) - 6))))), 'Decimal(38, 12)') AS quantity
FROM usage
COMMENT 'Measured usage that costs are split by';
