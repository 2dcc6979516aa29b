-- Up Migration
-- Control totals: what an upstream delivered, and where each of its rows went.

CREATE TABLE control_totals (
  tenant_name text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  delivery_id bigint,
  day         date,
  currency    text NOT NULL,
  class       text NOT NULL CHECK (class IN ('delivered', 'charged', 'zero', 'outside_window', 'superseded', 'duplicate', 'left_out', 'published_only')),
  reason      text NOT NULL DEFAULT '',
  rows        bigint NOT NULL,
  cost        numeric NOT NULL,
  billed      numeric NOT NULL,
  effective   numeric NOT NULL
);
CREATE INDEX control_totals_of_tenant ON control_totals (tenant_name, day);
COMMENT ON TABLE control_totals IS 'what an upstream delivered, and where each of its rows went; delivered = the sum of all other classes but published_only';
COMMENT ON COLUMN control_totals.delivery_id IS 'the delivery whose rows these are; null for ecosystems without deliveries';
COMMENT ON COLUMN control_totals.day IS 'UTC day on which the charge begins; null where a row has no readable day; the first of the month for the class delivered';
COMMENT ON COLUMN control_totals.class IS 'delivered: all rows; the other classes say where they went, each row in exactly one. published_only: published amounts that no delivered row explains any more';
COMMENT ON COLUMN control_totals.reason IS 'why rows are in the class, such as before_lookback, within_cutoff or the finding that left them out';
COMMENT ON COLUMN control_totals.cost IS 'the amount that the tenant charges';
COMMENT ON COLUMN control_totals.billed IS 'BilledCost; equals cost where the upstream has one amount alone';
COMMENT ON COLUMN control_totals.effective IS 'EffectiveCost; equals cost where the upstream has one amount alone';

ALTER TABLE tenants ADD COLUMN control_report jsonb;
COMMENT ON COLUMN tenants.control_report IS 'digest of what the control totals were computed from, and the sentences about them: an unchanged tenant is not counted again';

ALTER TABLE deliveries ADD COLUMN month_sums jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN deliveries.month_sums IS 'lines and the four costs, by currency and by month in which the charge begins; amounts as text';
