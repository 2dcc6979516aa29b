-- Which store this is, and what it holds: so that Postgres notices a store that was lost, exchanged or set back to a backup.

CREATE TABLE IF NOT EXISTS store_identity
(
    store_id UUID COMMENT 'id of this store, made by the first run on it; Postgres knows it too'
)
ENGINE = MergeTree
ORDER BY store_id
COMMENT 'Which store of facts this is';

-- Written after the swap of a day's partitions and before Postgres notes the result. Of one day the newest epoch counts.
CREATE TABLE IF NOT EXISTS published_days
(
    book       LowCardinality(String) COMMENT 'chargebacks or topic_attributions',
    day        Date COMMENT 'UTC day',
    input_hash String COMMENT 'hash of the input that the visible rows were calculated from; empty when they were taken away',
    row_count  UInt64 COMMENT 'how many rows the day has',
    epoch      UInt64 COMMENT 'epoch of the lease of the run that published them'
)
ENGINE = ReplacingMergeTree(epoch)
ORDER BY (book, day)
COMMENT 'What is published of each day, as Postgres has it';
