-- Up Migration
-- What of a delivery counts is decided by its content: by the accounts and billing periods of its lines, by bytes that another file has as well, and
-- by charges that another delivery has as well. Several deliveries of one scope may count, each with other periods.

DROP INDEX deliveries_current;
CREATE INDEX deliveries_current ON deliveries (tenant_name, source, scope) WHERE state = 'current';

ALTER TABLE deliveries
  ADD COLUMN duplicates jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN periods jsonb,
  ADD COLUMN retired jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN superseded jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN shared_charges jsonb,
  ADD COLUMN waits_for text CHECK (waits_for IN ('shrunk', 'moved', 'overlap')),
  DROP CONSTRAINT deliveries_state_check,
  ADD CONSTRAINT deliveries_state_check
    CHECK (state IN ('loading', 'current', 'replaced', 'waiting_for_acceptance', 'refused', 'expired', 'superseded')),
  DROP CONSTRAINT deliveries_check2,
  ADD CONSTRAINT deliveries_check2
    CHECK ((problem IS NULL) = (state NOT IN ('waiting_for_acceptance', 'refused', 'expired', 'superseded')));
COMMENT ON COLUMN deliveries.state IS 'current: its lines count; waiting_for_acceptance: loaded, and a person or a setting has to decide; refused: not readable; expired: older than retention_days, its lines are dropped; superseded: all of its charges count in other deliveries';
COMMENT ON COLUMN deliveries.problem IS 'why it is refused, waits, has expired or is superseded, as a sentence';
COMMENT ON COLUMN deliveries.files IS 'name, size, version, SHA-256, FOCUS version and sums of each file that was loaded; its place is the number of the file in focus_lines';
COMMENT ON COLUMN deliveries.duplicates IS 'files that were not loaded, because another file with the same bytes counts: which, and what that file adds up to';
COMMENT ON COLUMN deliveries.periods IS 'days and sums by billing account and billing period; null where it was loaded before this was recorded';
COMMENT ON COLUMN deliveries.retired IS 'accounts and periods that newer deliveries of its scope have replaced';
COMMENT ON COLUMN deliveries.superseded IS 'accounts and periods of some of its files that do not count, because they count in another file or delivery';
COMMENT ON COLUMN deliveries.shared_charges IS 'charges that other files or older deliveries have as well; null where it was not compared yet';
COMMENT ON COLUMN deliveries.waits_for IS 'why it waits: it is much smaller than before, its source delivers in another way, or it overlaps';
