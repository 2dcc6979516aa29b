-- What FOCUS files add up to is counted by month, too, so that the control totals of a delivery begin with its files.

ALTER TABLE focus_text_sums ADD COLUMN IF NOT EXISTS month Date COMMENT 'first day of the month in which the charge begins; 1970-01-01 when it is not known' AFTER currency;

ALTER TABLE focus_landing_sums MODIFY QUERY
SELECT
    delivery,
    file,
    BillingCurrency AS currency,
    toStartOfMonth(charge_day) AS month,
    countIf(NOT is_end) AS lines,
    countIf(is_end) AS ends,
    ifNull(sum(if(abs(toDecimal256OrNull(cost_texts[1], 38)) < toDecimal256('100000000000000000000000000', 38), toDecimal256OrNull(cost_texts[1], 38), NULL)), 0) AS billed_cost,
    ifNull(sum(if(abs(toDecimal256OrNull(cost_texts[2], 38)) < toDecimal256('100000000000000000000000000', 38), toDecimal256OrNull(cost_texts[2], 38), NULL)), 0) AS effective_cost,
    ifNull(sum(if(abs(toDecimal256OrNull(cost_texts[3], 38)) < toDecimal256('100000000000000000000000000', 38), toDecimal256OrNull(cost_texts[3], 38), NULL)), 0) AS contracted_cost,
    ifNull(sum(if(abs(toDecimal256OrNull(cost_texts[4], 38)) < toDecimal256('100000000000000000000000000', 38), toDecimal256OrNull(cost_texts[4], 38), NULL)), 0) AS list_cost
FROM focus_landing
GROUP BY delivery, file, currency, month;
