-- Up Migration
ALTER TABLE tenants ADD COLUMN merged_resources text;
COMMENT ON COLUMN tenants.merged_resources IS 'digest of the statement that selected the resources of the last gathering from the store; null if some of them could not be stored';
