-- Up Migration
-- Days that lack something (metrics of some resources, a part of the inventory) are published at once, and are provisional until it
-- comes or is given up. The hash of their input then ends in "-provisional", so that the day and its state change in one step.

ALTER TABLE tracking_dates RENAME COLUMN metrics_attempts TO provisional_attempts;
ALTER TABLE tracking_dates
  ADD COLUMN lacks text[] NOT NULL DEFAULT '{}',
  ADD COLUMN provisional boolean NOT NULL GENERATED ALWAYS AS (coalesce(published_hash LIKE '%-provisional', false)) STORED;
ALTER TABLE topic_attribution_dates
  ADD COLUMN lacks text[] NOT NULL DEFAULT '{}',
  ADD COLUMN provisional_attempts integer NOT NULL DEFAULT 0,
  ADD COLUMN provisional boolean NOT NULL GENERATED ALWAYS AS (coalesce(published_hash LIKE '%-provisional', false)) STORED;

COMMENT ON COLUMN tracking_dates.provisional IS 'what is published of the day lacks something that the service still waits for';
COMMENT ON COLUMN tracking_dates.lacks IS 'sentences: what was missing when the day was gathered last';
COMMENT ON COLUMN tracking_dates.provisional_attempts IS 'gathers in a row that lacked something; at the limit the day is settled as it is';
COMMENT ON COLUMN topic_attribution_dates.provisional IS 'as in tracking_dates';
COMMENT ON COLUMN topic_attribution_dates.lacks IS 'as in tracking_dates';
COMMENT ON COLUMN topic_attribution_dates.provisional_attempts IS 'as in tracking_dates';

-- Gaps had no resource: what waits with them is gathered anew, and published at once.
UPDATE tracking_dates SET staged_hash = NULL, provisional_attempts = 0 WHERE has_usage_gaps AND publishing_hash IS NULL;
UPDATE topic_attribution_dates SET staged_hash = NULL WHERE has_usage_gaps AND publishing_hash IS NULL;

ALTER TABLE tracking_dates DROP COLUMN has_usage_gaps;
ALTER TABLE topic_attribution_dates DROP COLUMN has_usage_gaps;
