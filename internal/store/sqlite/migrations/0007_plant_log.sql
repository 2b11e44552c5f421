-- Plants are a log: listings read segments that are built from it, so it has no index but those of its two keys.
DROP TABLE plant_words;
DROP TABLE plant_tags;
DROP INDEX plants_name;
DROP INDEX plants_name_key;
DROP INDEX plants_tag;
DROP INDEX plants_tag_id;
DROP INDEX plants_tag_name;
DROP INDEX plants_tag_key;
ALTER TABLE plants DROP COLUMN name_key;
ALTER TABLE plants DROP COLUMN tag_key;
ALTER TABLE totals DROP COLUMN words;

-- Random number of the transaction. It distinguishes segments of this log from those of another state of the database.
ALTER TABLE plants ADD COLUMN batch INTEGER NOT NULL DEFAULT 0;
