-- Sums by reason, so that what needs attention is found without reading every row: a few hundred rows a day. Stored parts get
-- theirs in the background. Until then reads of these parts take the table, are as exact, and slower.

ALTER TABLE chargebacks ADD PROJECTION IF NOT EXISTS by_reason
(
    SELECT timestamp, product_type, cost_type, allocation_method, allocation_detail, currency,
           sum(amount_hi), sum(amount_lo), count()
    GROUP BY timestamp, product_type, cost_type, allocation_method, allocation_detail, currency
);

ALTER TABLE chargebacks MATERIALIZE PROJECTION by_reason SETTINGS mutations_sync = 0;
