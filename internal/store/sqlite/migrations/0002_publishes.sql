-- compatible: 1

-- Publishes over HTTP of the last day, readable on every node. The program that runs one renews it every few seconds. Programs
-- built between 0.9.0 and this migration have created the table already.
CREATE TABLE IF NOT EXISTS publishes (
    id      TEXT    NOT NULL PRIMARY KEY, -- random
    running INTEGER NOT NULL,             -- 0: it has ended
    updated INTEGER NOT NULL,
    content BLOB    NOT NULL              -- JSON
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS publishes_updated ON publishes (updated);
