-- Up Migration
-- When a tenant is due, for all workers alike, and what its runs take for today.

ALTER TABLE tenants
  ADD COLUMN run_clock timestamptz,
  ADD COLUMN runs_cut_off integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN tenants.run_clock IS 'latest time that a run has taken for now, by the clock of its worker';
COMMENT ON COLUMN tenants.runs_cut_off IS 'runs in a row that the loss of a store has cut off';
