-- compatible: 1

-- Publishes over HTTP of the last day, readable on every node. The program that runs one renews it every few seconds. Programs
-- built between 0.9.0 and this migration have created the table already.
CREATE TABLE IF NOT EXISTS publishes (
    id      text COLLATE "C" NOT NULL PRIMARY KEY, -- random
    running boolean          NOT NULL,
    updated bigint           NOT NULL,
    content bytea            NOT NULL              -- JSON
);
CREATE INDEX IF NOT EXISTS publishes_updated ON publishes (updated);
