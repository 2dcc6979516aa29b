-- Up Migration
-- What was emitted to files, and what could not be: one row for each file that an emitter of a tenant is to keep up to date.
-- content_hash: of what was emitted last, that is of the days in it and of the emitter's settings; null when nothing was yet. It
-- stays while a newer content fails to be emitted: the file still holds the old one.

CREATE TABLE emissions (
  tenant_name  text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  emitter      text COLLATE "C" NOT NULL,
  pipeline     text COLLATE "C" NOT NULL,
  span         text NOT NULL CHECK (span IN ('day', 'month')),
  first_day    date NOT NULL,
  status       text NOT NULL CHECK (status IN ('emitted', 'failed')),
  content_hash text,
  file         text,
  bytes        bigint,
  emitted_at   timestamptz,
  attempts     integer NOT NULL DEFAULT 0,
  last_error   text,
  PRIMARY KEY (tenant_name, emitter, pipeline, span, first_day),
  CHECK ((content_hash IS NULL) = (file IS NULL) AND (status = 'failed' OR content_hash IS NOT NULL)),
  CHECK (span = 'day' OR extract(day FROM first_day) = 1)
);
COMMENT ON TABLE emissions IS 'files that emitters wrote, or failed to write';
COMMENT ON COLUMN emissions.first_day IS 'UTC day that the file holds, or the first of the month that it holds';
COMMENT ON COLUMN emissions.file IS 'absolute path of what was written last';
COMMENT ON COLUMN emissions.attempts IS 'failed attempts since the last good one';
