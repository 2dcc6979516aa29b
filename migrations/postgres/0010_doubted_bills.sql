-- Up Migration
-- A published day whose bill has lost most of its amount keeps what is published until a second run is told the same: what was
-- told, and by which lease.

ALTER TABLE tracking_dates
  ADD COLUMN doubted_bill text,
  ADD COLUMN doubted_epoch bigint,
  ADD CHECK ((doubted_bill IS NULL) = (doubted_epoch IS NULL));
COMMENT ON COLUMN tracking_dates.doubted_bill IS 'lines and amount of a bill that lacks most of what is published; null when there is no such doubt';
COMMENT ON COLUMN tracking_dates.doubted_epoch IS 'epoch of the lease under which the upstream first said so';
