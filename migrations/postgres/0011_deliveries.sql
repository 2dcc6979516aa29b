-- Up Migration
-- Bills of FOCUS as they were delivered. The lines of a delivery are a partition of focus_lines in the tenant's store; they count from the
-- moment on that the delivery is current here, and never in part.

CREATE TABLE deliveries (
  delivery_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_name    text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  source         text NOT NULL,
  scope          text NOT NULL,
  kind           text NOT NULL CHECK (kind IN ('snapshot', 'additive')),
  content_id     text NOT NULL,
  settings_hash  text NOT NULL,
  billing_period text CHECK (billing_period ~ '^\d{4}-\d{2}$'),
  state          text NOT NULL CHECK (state IN ('loading', 'current', 'replaced', 'waiting_for_acceptance', 'refused')),
  files          jsonb NOT NULL DEFAULT '[]',
  lines          bigint,
  sums           jsonb NOT NULL DEFAULT '[]',
  findings       jsonb NOT NULL DEFAULT '[]',
  remarks        jsonb NOT NULL DEFAULT '[]',
  problem        text,
  first_day      date,
  last_day       date,
  epoch          bigint NOT NULL,
  started_at     timestamptz NOT NULL DEFAULT now(),
  loaded_at      timestamptz,
  accepted_at    timestamptz,
  replaced_at    timestamptz,
  CHECK ((loaded_at IS NULL) = (state IN ('loading', 'refused'))),
  CHECK ((replaced_at IS NULL) = (state <> 'replaced')),
  CHECK ((problem IS NULL) = (state NOT IN ('waiting_for_acceptance', 'refused')))
);
CREATE UNIQUE INDEX deliveries_current ON deliveries (tenant_name, source, scope) WHERE state = 'current';
CREATE INDEX deliveries_of_source ON deliveries (tenant_name, source, scope, delivery_id);
COMMENT ON TABLE deliveries IS 'bills of FOCUS as they were delivered, and which of them count';
COMMENT ON COLUMN deliveries.delivery_id IS 'number of its partition in focus_lines; never used again';
COMMENT ON COLUMN deliveries.scope IS 'what a newer snapshot replaces: the billing period, empty for the whole source; of an addition the name of its file';
COMMENT ON COLUMN deliveries.content_id IS 'digest of the names, sizes and versions of its files';
COMMENT ON COLUMN deliveries.settings_hash IS 'of the settings that decide what is read from the files';
COMMENT ON COLUMN deliveries.state IS 'current: its lines count; waiting_for_acceptance: loaded, and lacks most of what it would replace; refused: not readable';
COMMENT ON COLUMN deliveries.files IS 'name, size, version and FOCUS version of each file';
COMMENT ON COLUMN deliveries.sums IS 'lines and the four costs, by currency; amounts as text';
COMMENT ON COLUMN deliveries.findings IS 'what is odd about its lines: id, sentence, number of lines, up to 5 examples';
COMMENT ON COLUMN deliveries.remarks IS 'what is odd about its files, as sentences';
COMMENT ON COLUMN deliveries.problem IS 'why it is refused or waits, as a sentence';
COMMENT ON COLUMN deliveries.first_day IS 'UTC day on which its first charge begins';
COMMENT ON COLUMN deliveries.last_day IS 'last UTC day on which one of its charges runs';
COMMENT ON COLUMN deliveries.accepted_at IS 'when a person accepted it although it lacks most of what it replaced';
COMMENT ON COLUMN deliveries.epoch IS 'lease under which it was loaded';
