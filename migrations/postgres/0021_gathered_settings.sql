-- Up Migration
-- A tenant whose settings have changed is gathered by the next run, whatever its gap between gatherings.

ALTER TABLE tenants ADD COLUMN gathered_settings text;

COMMENT ON COLUMN tenants.gathered_settings IS 'digest of the settings, without secrets, that the last good gathering had';
