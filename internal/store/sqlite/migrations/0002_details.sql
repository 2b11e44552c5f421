-- What a version says of itself beyond what a listing needs, as JSON.
ALTER TABLE versions ADD COLUMN details TEXT NOT NULL DEFAULT '{}';
