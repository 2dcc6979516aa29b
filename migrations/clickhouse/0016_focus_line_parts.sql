-- A delivery is read a few times and then replaced whole, so large parts of it are not worth merging: it took a third of the time of a load.
-- Small ones still are. 32 MiB are 500,000 short lines.

ALTER TABLE focus_lines MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 33554432;
