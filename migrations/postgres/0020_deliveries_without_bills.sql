-- Up Migration
-- A delivery whose files are all something else than bills, such as contract commitments, is recorded so that it is not read again.

ALTER TABLE deliveries
  DROP CONSTRAINT deliveries_state_check,
  ADD CONSTRAINT deliveries_state_check
    CHECK (state IN ('loading', 'current', 'replaced', 'waiting_for_acceptance', 'refused', 'expired', 'no_bill', 'superseded')),
  DROP CONSTRAINT deliveries_check,
  ADD CONSTRAINT deliveries_check CHECK ((loaded_at IS NULL) = (state IN ('loading', 'refused', 'no_bill'))),
  DROP CONSTRAINT deliveries_check2,
  ADD CONSTRAINT deliveries_check2
    CHECK ((problem IS NULL) = (state NOT IN ('waiting_for_acceptance', 'refused', 'expired', 'no_bill', 'superseded')));
COMMENT ON COLUMN deliveries.problem IS 'why it is refused, waits, has expired, is superseded or no bill, as a sentence';
COMMENT ON COLUMN deliveries.state IS 'current: its lines count; waiting_for_acceptance: loaded, and a person or a setting has to decide; refused: not readable; expired: older than retention_days, its lines are dropped; superseded: all of its charges count in other deliveries; no_bill: none of its files is a bill';
