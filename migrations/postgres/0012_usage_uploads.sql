-- Up Migration
-- Uploads of usage. The rows of an upload are a partition of usage_uploads in the tenant's store; they count for the days and metrics that
-- usage_days names, which one transaction gives to a newer upload as a whole.

CREATE TABLE usage_uploads (
  upload_id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_name     text NOT NULL,
  idempotency_key text NOT NULL,
  origin          text NOT NULL CHECK (origin IN ('api', 'folder')),
  state           text NOT NULL CHECK (state IN ('loading', 'stored', 'refused')),
  content_digest  text,
  size            bigint,
  rows            bigint,
  day_metrics     bigint,
  metrics         jsonb NOT NULL DEFAULT '[]',
  first_day       date,
  last_day        date,
  days_to_recalculate jsonb NOT NULL DEFAULT '[]',
  days_past_lookback  jsonb NOT NULL DEFAULT '[]',
  problems        jsonb NOT NULL DEFAULT '[]',
  started_at      timestamptz NOT NULL DEFAULT now(),
  ended_at        timestamptz,
  CHECK ((ended_at IS NULL) = (state = 'loading')),
  CHECK ((content_digest IS NULL) = (state <> 'stored')),
  CHECK ((problems = '[]') = (state <> 'refused'))
);
CREATE UNIQUE INDEX usage_uploads_by_key ON usage_uploads (tenant_name, origin, idempotency_key) WHERE state <> 'loading';
CREATE INDEX usage_uploads_of_tenant ON usage_uploads (tenant_name, upload_id);
COMMENT ON TABLE usage_uploads IS 'uploads of usage, those that were refused in the folder too';
COMMENT ON COLUMN usage_uploads.upload_id IS 'number of its partition in usage_uploads of the store; never used again';
COMMENT ON COLUMN usage_uploads.idempotency_key IS 'of the request, or name and version of the file';
COMMENT ON COLUMN usage_uploads.state IS 'loading: not loaded completely; stored: loaded as a whole; refused: nothing of it is kept';
COMMENT ON COLUMN usage_uploads.content_digest IS 'SHA-256 of the bytes';
COMMENT ON COLUMN usage_uploads.day_metrics IS 'number of pairs of a day and a metric that it covers';
COMMENT ON COLUMN usage_uploads.days_to_recalculate IS 'days of it that runs gathered when it was stored, or would later';
COMMENT ON COLUMN usage_uploads.days_past_lookback IS 'days of it that no run gathered any more when it was stored';
COMMENT ON COLUMN usage_uploads.problems IS 'why it was refused: row, column and a sentence each';

CREATE TABLE usage_days (
  tenant_name text NOT NULL,
  day         date NOT NULL,
  metric      text NOT NULL,
  upload_id   bigint NOT NULL REFERENCES usage_uploads ON DELETE CASCADE,
  PRIMARY KEY (tenant_name, day, metric)
);
CREATE INDEX usage_days_of_upload ON usage_days (upload_id);
COMMENT ON TABLE usage_days IS 'which upload the usage of a day and metric comes from';
