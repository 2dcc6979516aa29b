-- Up Migration
-- Which store holds a tenant's facts. The store has the same id in its table store_identity: another one, or none, is a store that
-- was lost, exchanged or belongs to another host.
CREATE TABLE fact_stores (
  tenant_name text PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
  store_id    uuid NOT NULL,
  noted_at    timestamptz NOT NULL DEFAULT now()
);

-- Processes that run tenants and have their stores open: each touches its rows while it lives, and deletes them when it stops.
CREATE TABLE fact_store_holders (
  tenant_name text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  holder      uuid NOT NULL,
  store_id    uuid NOT NULL,
  place       text NOT NULL,
  seen_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_name, holder)
);
COMMENT ON COLUMN fact_store_holders.holder IS 'id of the process';
COMMENT ON COLUMN fact_store_holders.place IS 'where the store is, for people: host and data directory, or the address of the server';

ALTER TABLE tracking_dates ADD COLUMN lost_at timestamptz;
ALTER TABLE topic_attribution_dates ADD COLUMN lost_at timestamptz;
COMMENT ON COLUMN tracking_dates.lost_at IS 'when the store was found to have lost the day; null once it is published again';
COMMENT ON COLUMN topic_attribution_dates.lost_at IS 'when the store was found to have lost the attributions; null once they are published again';

-- Days that were gathered and have nothing to publish, and days whose bill could not be gathered the last time.
CREATE TABLE gathered_days (
  tenant_name   text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  tracking_date date NOT NULL,
  outcome       text NOT NULL CHECK (outcome IN ('no_bill', 'failed')),
  error         text,
  gathered_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_name, tracking_date)
);
COMMENT ON TABLE gathered_days IS 'outcome of the last gathering of a day that brought no bill';

-- A run that waits for its place is queued; one in which only some days or sources failed has completed with errors.
ALTER TABLE runs DROP CONSTRAINT runs_status_check;
ALTER TABLE runs ADD CONSTRAINT runs_status_check
  CHECK (status IN ('queued', 'running', 'completed', 'completed_with_errors', 'failed'));
ALTER TABLE runs ADD COLUMN notes jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN runs.notes IS 'what is worth knowing of the run and is no error, as sentences';
