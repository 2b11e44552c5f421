-- Metadata that listings do not need, as JSON.
ALTER TABLE versions ADD COLUMN details TEXT NOT NULL DEFAULT '{}';
