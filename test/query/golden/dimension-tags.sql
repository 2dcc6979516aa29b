-- {"dimension_ids":[1,2]}
SELECT dimension_id, arrayMap(tag -> (tag.2, tag.3), arraySort(groupArray((tag_id, toString(tag_key), display_name)))) AS tags
FROM dimension_tags FINAL
WHERE dimension_id IN {dimension_ids:Array(UInt64)}
GROUP BY dimension_id
