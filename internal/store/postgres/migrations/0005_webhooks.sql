-- compatible: 1

-- Endpoints of other programs that receive events.
CREATE TABLE webhooks (
    id            text COLLATE "C" PRIMARY KEY,
    url           text             NOT NULL,
    secret        text             NOT NULL, -- needed to sign; never shown
    datasets      text             NOT NULL, -- patterns, separated by spaces
    protected     boolean          NOT NULL,
    allow_private boolean          NOT NULL,
    created       bigint           NOT NULL,
    disabled      bigint                     -- NULL: it is enabled
);

-- Events for webhooks, written in the transaction of the change. An ID is never used again.
CREATE TABLE webhook_deliveries (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook   text COLLATE "C" NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event     text COLLATE "C" NOT NULL, -- the same for all webhooks
    type      text COLLATE "C" NOT NULL,
    created   bigint           NOT NULL,
    data      text             NOT NULL, -- JSON
    state     text COLLATE "C" NOT NULL, -- pending, delivered or failed
    attempts  bigint           NOT NULL, -- that were started
    due       bigint           NOT NULL, -- of the next attempt; while one runs, when another node may start one
    attempted bigint,                    -- end of the last attempt
    result    text             NOT NULL  -- of the last attempt
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook, state, due);
