-- Usage that people upload as CSV. An upload is a partition; of which days and metrics it counts is said by Postgres.
CREATE TABLE IF NOT EXISTS usage_uploads
(
    upload_id UInt64 COMMENT 'number of the upload in Postgres',
    row UInt64 COMMENT 'row of the file; row 1 is the first one behind the header' CODEC(Delta, ZSTD(1)),
    day Date COMMENT 'UTC day' CODEC(ZSTD(1)),
    timestamp DateTime('UTC') COMMENT 'start of the hour, or of the day' CODEC(Delta, ZSTD(1)),
    metric LowCardinality(String) COMMENT 'what was used, as rules name it',
    resource_id LowCardinality(String) COMMENT 'resource that it was used of, as lines of the bill name it',
    identity_id LowCardinality(String) COMMENT 'who used it',
    micro_units Int128 COMMENT 'how much, in millionths' CODEC(ZSTD(1)),
    refused LowCardinality(String) COMMENT 'column whose value cannot be taken, while an upload is checked; empty in one that counts'
)
ENGINE = MergeTree
PARTITION BY upload_id
ORDER BY (day, metric, resource_id, identity_id, timestamp)
COMMENT 'Usage that was uploaded; what counts of it is in usage';
