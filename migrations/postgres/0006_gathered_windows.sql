-- Up Migration
-- What a gathering of a window came to: the upstream's answers as digests, and the hash of each day's input that was made of
-- them. Never wrong, only outdated: it says what follows from these answers, whoever wrote it and whatever happened since.

CREATE TABLE gathered_windows (
  tenant_name      text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  window_start     date NOT NULL,
  window_end       date NOT NULL,
  settings_hash    text NOT NULL,
  day_hashes       jsonb NOT NULL,
  topic_day_hashes jsonb NOT NULL,
  answers          jsonb NOT NULL,
  outcome          jsonb NOT NULL,
  PRIMARY KEY (tenant_name, window_start)
);
COMMENT ON TABLE gathered_windows IS 'what the last complete gathering of a window came to';
COMMENT ON COLUMN gathered_windows.settings_hash IS 'of all that decides what is made of the answers, besides the ecosystem itself';
COMMENT ON COLUMN gathered_windows.day_hashes IS 'day → hash of its input, of days with lines';
COMMENT ON COLUMN gathered_windows.answers IS 'digests of the answers, in the form of the ecosystem';
COMMENT ON COLUMN gathered_windows.outcome IS 'counts of what was gathered, and of what was dropped';
