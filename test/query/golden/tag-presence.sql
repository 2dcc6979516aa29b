-- {}
SELECT count() > 0 AS tagged FROM dimension_tags
