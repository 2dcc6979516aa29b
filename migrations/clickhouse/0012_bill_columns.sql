-- What the bill of a cloud says of a line besides, and what rules by configuration make of it. The columns are empty for other bills, and for
-- lines that were stored before: next to no bytes (docs/decisions/0026-columns-of-any-bill.md). Rows of chargebacks repeat what
-- their line says, because those of a line lie side by side.

ALTER TABLE billing
    ADD COLUMN IF NOT EXISTS line_id UInt64 DEFAULT 0 COMMENT 'hash of the whole line, 53 bits, which tells apart lines that are equal in other columns; 0 where they are one line' CODEC(ZSTD(1)) AFTER currency,
    ADD COLUMN IF NOT EXISTS charge_category LowCardinality(String) DEFAULT '' COMMENT 'Usage, Purchase, Tax, Credit or Adjustment; empty when the bill does not say' CODEC(ZSTD(1)) AFTER line_id,
    ADD COLUMN IF NOT EXISTS service_provider LowCardinality(String) DEFAULT '' COMMENT 'who provides the service; empty when the bill does not say' CODEC(ZSTD(1)) AFTER charge_category,
    ADD COLUMN IF NOT EXISTS account_id LowCardinality(String) DEFAULT '' COMMENT 'account that is billed; empty when the bill does not say' CODEC(ZSTD(1)) AFTER service_provider,
    ADD COLUMN IF NOT EXISTS region_id LowCardinality(String) DEFAULT '' COMMENT 'region of the resource; empty when there is none' CODEC(ZSTD(1)) AFTER account_id,
    ADD COLUMN IF NOT EXISTS sku_id LowCardinality(String) DEFAULT '' COMMENT 'what is priced; empty when the bill does not say' CODEC(ZSTD(1)) AFTER region_id,
    ADD COLUMN IF NOT EXISTS line_tags Map(LowCardinality(String), String) COMMENT 'tags of the line as the bill has them, by key' CODEC(ZSTD(1)) AFTER sku_id,
    ADD COLUMN IF NOT EXISTS rule LowCardinality(String) DEFAULT '' COMMENT 'configured rule that took the line; empty: the rule of its product type' CODEC(ZSTD(1)) AFTER line_tags,
    ADD COLUMN IF NOT EXISTS billed_cost Decimal(38, 12) DEFAULT 0 COMMENT 'cost on the invoice, where the bill has several costs' CODEC(ZSTD(1)) AFTER rule,
    ADD COLUMN IF NOT EXISTS list_cost Decimal(38, 12) DEFAULT 0 COMMENT 'cost at list prices, where the bill has several costs' CODEC(ZSTD(1)) AFTER billed_cost,
    ADD COLUMN IF NOT EXISTS named_identity LowCardinality(String) DEFAULT '' COMMENT 'identity that the line names, by allocation.identity; empty when it names nobody' CODEC(ZSTD(1)) AFTER list_cost;

ALTER TABLE chargebacks
    ADD COLUMN IF NOT EXISTS line_id UInt64 DEFAULT 0 COMMENT 'line_id of the billing line' CODEC(ZSTD(1)) AFTER currency,
    ADD COLUMN IF NOT EXISTS charge_category LowCardinality(String) DEFAULT '' COMMENT 'Usage, Purchase, Tax, Credit or Adjustment; empty when the bill does not say' CODEC(ZSTD(1)) AFTER line_id,
    ADD COLUMN IF NOT EXISTS service_provider LowCardinality(String) DEFAULT '' COMMENT 'who provides the service; empty when the bill does not say' CODEC(ZSTD(1)) AFTER charge_category,
    ADD COLUMN IF NOT EXISTS account_id LowCardinality(String) DEFAULT '' COMMENT 'account that is billed; empty when the bill does not say' CODEC(ZSTD(1)) AFTER service_provider,
    ADD COLUMN IF NOT EXISTS region_id LowCardinality(String) DEFAULT '' COMMENT 'region of the resource; empty when there is none' CODEC(ZSTD(1)) AFTER account_id,
    ADD COLUMN IF NOT EXISTS sku_id LowCardinality(String) DEFAULT '' COMMENT 'what is priced; empty when the bill does not say' CODEC(ZSTD(1)) AFTER region_id,
    ADD COLUMN IF NOT EXISTS line_tags Map(LowCardinality(String), String) COMMENT 'tags of the line as the bill has them, by key' CODEC(ZSTD(1)) AFTER sku_id,
    ADD COLUMN IF NOT EXISTS rule LowCardinality(String) DEFAULT '' COMMENT 'configured rule that took the line; empty: the rule of its product type' CODEC(ZSTD(1)) AFTER line_tags;
