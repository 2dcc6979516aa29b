-- Rows say by which rules and in which ticks they were split, so that they can be explained long after the configuration has changed. The
-- same for all rows of a day: next to no bytes. Empty and 0 for rows that were published before this was noted.

ALTER TABLE chargebacks
    ADD COLUMN IF NOT EXISTS rules_hash LowCardinality(String) DEFAULT '' COMMENT 'rule set in allocation_rules that the row was allocated by; empty when it is not known' CODEC(ZSTD(1)) AFTER metric,
    ADD COLUMN IF NOT EXISTS decimal_places UInt8 DEFAULT 0 COMMENT 'decimal places of the ticks that the line was split in; 0 when they are not known' CODEC(ZSTD(1)) AFTER rules_hash;
