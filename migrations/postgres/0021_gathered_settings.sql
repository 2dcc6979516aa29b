-- Up Migration
-- A tenant whose settings have changed is gathered by the next run, whatever its gap between gatherings. The files of a store are read once a day.

ALTER TABLE tenants
  ADD COLUMN gathered_settings text,
  ADD COLUMN files_checked_at timestamptz;

COMMENT ON COLUMN tenants.gathered_settings IS 'digest of the settings, without secrets, that the last good gathering had';
COMMENT ON COLUMN tenants.files_checked_at IS 'when all files of the store were last read and had their checksums; null where some had not';
