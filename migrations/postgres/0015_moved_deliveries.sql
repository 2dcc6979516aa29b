-- Up Migration
-- A bill whose charges are delivered in another way now, such as in files of months instead of one, takes the place of deliveries of other scopes.

ALTER TABLE deliveries ADD COLUMN replaces bigint[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN deliveries.replaces IS 'deliveries of other scopes that it takes the place of, because the source delivers their charges in another way now';
