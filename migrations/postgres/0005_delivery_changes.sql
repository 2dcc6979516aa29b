-- Up Migration
-- What a delivery changed: the deliveries that the bill of a day was read from, and the differences that publishing it made.
ALTER TABLE tracking_dates
  ADD COLUMN staged_deliveries bigint[],
  ADD COLUMN published_deliveries bigint[],
  ADD COLUMN first_deliveries bigint[];
COMMENT ON COLUMN tracking_dates.staged_deliveries IS 'ids of the deliveries that the staged bill was read from; null if they are unknown, or the ecosystem has none';
COMMENT ON COLUMN tracking_dates.published_deliveries IS 'ids of the deliveries that the published bill was read from, or would be read from without another result';
COMMENT ON COLUMN tracking_dates.first_deliveries IS 'ids of the deliveries that the first published bill was read from; empty if it was published before they were recorded';

UPDATE tracking_dates AS d SET staged_deliveries = w.ids, published_deliveries = w.ids, first_deliveries = '{}'
FROM (
  SELECT tenant_name, window_start, window_end, ARRAY(
    SELECT (CASE jsonb_typeof(each) WHEN 'array' THEN each->>0 ELSE each #>> '{}' END)::bigint
    FROM jsonb_array_elements(responses->'ofWindow'->'deliveries') AS list (each)
  ) AS ids
  FROM gathered_windows WHERE jsonb_typeof(responses->'ofWindow'->'deliveries') = 'array'
) AS w
WHERE d.tenant_name = w.tenant_name AND d.tracking_date >= w.window_start AND d.tracking_date < w.window_end
  AND d.published_hash IS NOT NULL AND d.staged_hash IS NULL AND d.publishing_hash IS NULL;

CREATE TABLE delivery_changes (
  change_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_name   text NOT NULL REFERENCES tenants ON DELETE CASCADE,
  deliveries    bigint[] NOT NULL CHECK (cardinality(deliveries) > 0),
  days          date[] NOT NULL CHECK (cardinality(days) > 0),
  lines_new     bigint NOT NULL,
  lines_changed bigint NOT NULL,
  lines_gone    bigint NOT NULL,
  payers        jsonb,
  sums          jsonb,
  is_mixed      boolean NOT NULL,
  is_published  boolean NOT NULL DEFAULT false,
  recorded_at   timestamptz NOT NULL DEFAULT now(),
  CHECK ((payers IS NULL) = (sums IS NULL))
);
CREATE INDEX delivery_changes_of_tenant ON delivery_changes (tenant_name);
COMMENT ON TABLE delivery_changes IS 'differences that days of new deliveries made to published days: written with the intent to publish them';
COMMENT ON COLUMN delivery_changes.deliveries IS 'the new deliveries, which changed these days together';
COMMENT ON COLUMN delivery_changes.payers IS 'differences of each identity and currency, without those of 0: [{identity_id, currency, amount}]; null if they are unknown, because the publish was lost';
COMMENT ON COLUMN delivery_changes.sums IS 'sums of the differences by currency: [{currency, amount}]';
COMMENT ON COLUMN delivery_changes.is_mixed IS 'rules, usage or assignments of these days changed in the same run';
COMMENT ON COLUMN delivery_changes.is_published IS 'false between the intent to publish the days and its result';
