-- Up Migration
-- A bill expires when all of its days are older than the retention: its lines are dropped. Its record stays, so that it is not read again.

ALTER TABLE deliveries
  ADD COLUMN last_start_day date,
  ADD COLUMN expired_at timestamptz,
  DROP CONSTRAINT deliveries_state_check,
  ADD CONSTRAINT deliveries_state_check
    CHECK (state IN ('loading', 'current', 'replaced', 'waiting_for_acceptance', 'refused', 'expired')),
  DROP CONSTRAINT deliveries_check2,
  ADD CONSTRAINT deliveries_check2 CHECK ((problem IS NULL) = (state NOT IN ('waiting_for_acceptance', 'refused', 'expired'))),
  ADD CONSTRAINT deliveries_check3 CHECK (CASE state WHEN 'expired' THEN expired_at IS NOT NULL WHEN 'replaced' THEN true ELSE expired_at IS NULL END);
COMMENT ON COLUMN deliveries.last_start_day IS 'UTC day on which its last charge begins; null where it was loaded before this was recorded';
COMMENT ON COLUMN deliveries.expired_at IS 'when its lines were dropped, because all of its days were older than retention_days';
COMMENT ON COLUMN deliveries.problem IS 'why it is refused, waits or has expired, as a sentence';
COMMENT ON COLUMN deliveries.state IS 'current: its lines count; waiting_for_acceptance: loaded, and lacks most of what it would replace; refused: not readable; expired: older than retention_days, its lines are dropped';
