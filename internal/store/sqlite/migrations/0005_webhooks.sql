-- compatible: 1

-- Endpoints of other programs that receive events.
CREATE TABLE webhooks (
    id            TEXT    NOT NULL PRIMARY KEY,
    url           TEXT    NOT NULL,
    secret        TEXT    NOT NULL, -- needed to sign; never shown
    datasets      TEXT    NOT NULL, -- patterns, separated by spaces
    protected     INTEGER NOT NULL,
    allow_private INTEGER NOT NULL,
    created       INTEGER NOT NULL,
    disabled      INTEGER           -- NULL: it is enabled
) STRICT, WITHOUT ROWID;

-- Events for webhooks, written in the transaction of the change. An ID is never used again.
CREATE TABLE webhook_deliveries (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook   TEXT    NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event     TEXT    NOT NULL, -- the same for all webhooks
    type      TEXT    NOT NULL,
    created   INTEGER NOT NULL,
    data      TEXT    NOT NULL, -- JSON
    state     TEXT    NOT NULL, -- pending, delivered or failed
    attempts  INTEGER NOT NULL, -- that were started
    due       INTEGER NOT NULL, -- of the next attempt; while one runs, when another node may start one
    attempted INTEGER,          -- end of the last attempt
    result    TEXT    NOT NULL  -- of the last attempt
) STRICT;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook, state, due);
