-- Up Migration
-- Causes of allocation issues that people accept until a UTC day, inclusive. A cause has one row: every writer holds the
-- tenant's advisory lock while it compares and writes. An index could not hold the longest names.
CREATE TABLE accepted_causes (
  accepted_cause_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY CHECK (accepted_cause_id <= 9007199254740991),
  tenant_name       text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  allocation_detail text NOT NULL CHECK (char_length(allocation_detail) BETWEEN 1 AND 100),
  product_type      text COLLATE "C" NOT NULL CHECK (char_length(product_type) BETWEEN 1 AND 1000),
  rule              text COLLATE "C" NOT NULL CHECK (char_length(rule) <= 1000),
  accepted_until    date NOT NULL,
  reason            text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 500),
  created_by        text NOT NULL CHECK (char_length(created_by) BETWEEN 1 AND 100),
  created_at        timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX accepted_causes_of_tenant ON accepted_causes (tenant_name);
COMMENT ON TABLE accepted_causes IS 'causes of allocation issues that people leave out of the worklist until a day';
COMMENT ON COLUMN accepted_causes.rule IS 'configured rule; empty: the rule of the product type';
COMMENT ON COLUMN accepted_causes.accepted_until IS 'last UTC day';
COMMENT ON COLUMN accepted_causes.created_at IS 'when it was accepted, or accepted again with another day or reason';
