-- A day of 33,000 lines of a cloud has 40 MiB. Above the limit, a part has a file for each column and stream: 97 instead of 7,
-- and each of them is written, linked three times while the day is published, and deleted.
ALTER TABLE billing
    MODIFY SETTING min_bytes_for_wide_part = 134217728;
ALTER TABLE next_billing
    MODIFY SETTING min_bytes_for_wide_part = 134217728;
