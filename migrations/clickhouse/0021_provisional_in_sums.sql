-- Whether a day lacks something, in the sums: reads of sums no longer look through the table for such days. It is the same in all rows of a day, so
-- there are no more sums than before. Stored parts get theirs in the background. Until then reads of these parts take the table, are as exact, and slower.

ALTER TABLE chargebacks DROP PROJECTION IF EXISTS by_identity;

ALTER TABLE chargebacks DROP PROJECTION IF EXISTS by_resource;

ALTER TABLE chargebacks DROP PROJECTION IF EXISTS by_reason;

ALTER TABLE chargebacks ADD PROJECTION IF NOT EXISTS by_identity
(
    SELECT timestamp, identity_id, cost_type, currency, provisional, sum(amount_hi), sum(amount_lo), count()
    GROUP BY timestamp, identity_id, cost_type, currency, provisional
);

ALTER TABLE chargebacks ADD PROJECTION IF NOT EXISTS by_resource
(
    SELECT timestamp, resource_id, product_type, product_category, env_id, cost_type, allocation_method, currency, provisional,
           sum(amount_hi), sum(amount_lo), count()
    GROUP BY timestamp, resource_id, product_type, product_category, env_id, cost_type, allocation_method, currency, provisional
);

ALTER TABLE chargebacks ADD PROJECTION IF NOT EXISTS by_reason
(
    SELECT timestamp, product_type, cost_type, allocation_method, allocation_detail, currency, provisional,
           sum(amount_hi), sum(amount_lo), count()
    GROUP BY timestamp, product_type, cost_type, allocation_method, allocation_detail, currency, provisional
);

ALTER TABLE chargebacks MATERIALIZE PROJECTION by_identity SETTINGS mutations_sync = 0;

ALTER TABLE chargebacks MATERIALIZE PROJECTION by_resource SETTINGS mutations_sync = 0;

ALTER TABLE chargebacks MATERIALIZE PROJECTION by_reason SETTINGS mutations_sync = 0;
