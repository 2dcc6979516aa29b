-- {"from":"2026-03-01 00:00:00","to":"2026-03-06 00:00:00"}
SELECT DISTINCT toString(day) AS day FROM chargebacks WHERE provisional AND timestamp >= {from:DateTime('UTC')} AND timestamp < {to:DateTime('UTC')}
