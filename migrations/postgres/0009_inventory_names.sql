-- Up Migration
-- Names, types and teams of the inventory are copied to each tenant's ClickHouse, beside the facts. A copy has a number that never
-- comes again: it is part of what answers are called (ETag).

CREATE SEQUENCE inventory_generations;

ALTER TABLE tenants ADD COLUMN inventory_generation bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN tenants.inventory_generation IS 'copy of the inventory that the tenant''s ClickHouse shows; 0 before the first';
