-- Up Migration
-- The attribution of a day to topics, for tenants that have it switched on: a second book of the same bill, with its own
-- hashes and attempts, so that neither book waits for what only the other one lacks. The columns mean what those of
-- tracking_dates mean. publishing_hash is 'withdrawn' while rows that do not add up to a new bill are taken away.

CREATE TABLE topic_attribution_dates (
  tenant_name          text NOT NULL,
  tracking_date        date NOT NULL,
  staged_hash          text,
  publishing_hash      text,
  published_hash       text,
  has_usage_gaps       boolean NOT NULL DEFAULT false,
  attribution_attempts integer NOT NULL DEFAULT 0,
  last_error           text,
  billing_lines        bigint NOT NULL DEFAULT 0,
  attribution_rows     bigint NOT NULL DEFAULT 0,
  calculated_at        timestamptz,
  PRIMARY KEY (tenant_name, tracking_date),
  FOREIGN KEY (tenant_name, tracking_date) REFERENCES tracking_dates ON DELETE CASCADE
);
COMMENT ON TABLE topic_attribution_dates IS 'one UTC day of one tenant, as attributed to topics';
COMMENT ON COLUMN topic_attribution_dates.billing_lines IS 'lines of the day that have a rule for topics';
