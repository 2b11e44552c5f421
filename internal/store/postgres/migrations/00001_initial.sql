-- +goose Up

-- Plants are numbered from 1 without a gap in commit order and never change, so that a page of the
-- unfiltered listing is located by number. Text compares bytewise, regardless of the collation of the database. Every index
-- contains the number, so that deep pages need index-only scans.
CREATE TABLE plants (
    seq       bigint           NOT NULL PRIMARY KEY,
    id        bigint           NOT NULL,
    name      text COLLATE "C" NOT NULL,
    name_key  bytea            NOT NULL,
    tag       text COLLATE "C" NOT NULL, -- empty if none was given
    tag_given boolean          NOT NULL,
    tag_key   bytea,                     -- NULL for an empty tag
    batch     bigint           NOT NULL  -- random number of the transaction, to find out whether it was committed
);
CREATE UNIQUE INDEX plants_id ON plants (id) INCLUDE (seq);
CREATE INDEX plants_name     ON plants (name, seq);
CREATE INDEX plants_name_key ON plants (name_key, seq);
CREATE INDEX plants_tag      ON plants (tag, seq);
CREATE INDEX plants_tag_id   ON plants (tag, id) INCLUDE (seq);
CREATE INDEX plants_tag_name ON plants (tag, name_key, seq);
CREATE INDEX plants_tag_key  ON plants (tag_key, seq) WHERE tag_key IS NOT NULL;

-- Words of names and tags. words, the number of words of the plant, is repeated so that scoring needs no join.
CREATE TABLE plant_words (
    word  text COLLATE "C" NOT NULL,
    seq   bigint           NOT NULL,
    field integer          NOT NULL,
    pos   integer          NOT NULL,
    words integer          NOT NULL,
    PRIMARY KEY (word, seq, field, pos) INCLUDE (words)
);
CREATE INDEX plant_words_place ON plant_words (seq, field, pos);

-- Precomputed counts. The fill factor leaves room for heap-only updates.
CREATE TABLE plant_tags (
    tag    text COLLATE "C" NOT NULL PRIMARY KEY,
    plants bigint           NOT NULL
) WITH (fillfactor = 50);

-- Creating plants locks this row first.
CREATE TABLE totals (
    epoch  text   NOT NULL, -- identifies the database
    plants bigint NOT NULL,
    words  bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO totals (epoch, plants, words) VALUES (gen_random_uuid()::text, 0, 0);

-- Idempotency keys and the plants created with them. Times are microseconds since 1970, here and below.
CREATE TABLE retries (
    credential text COLLATE "C" NOT NULL,
    key        text COLLATE "C" NOT NULL,
    body       bytea            NOT NULL,
    seq        bigint           NOT NULL REFERENCES plants (seq),
    created    bigint           NOT NULL,
    PRIMARY KEY (credential, key)
);
CREATE INDEX retries_created ON retries (created);

CREATE TABLE keys (
    id        text COLLATE "C" NOT NULL PRIMARY KEY,
    name      text             NOT NULL,
    scopes    text             NOT NULL, -- separated by spaces
    hash      bytea            NOT NULL,
    created   bigint           NOT NULL,
    expires   bigint,
    revoked   bigint,
    last_used bigint
);

-- Changing keys or one of the tables below locks this row first.
CREATE TABLE catalogue (
    generation bigint NOT NULL -- incremented by every change of the next two tables
) WITH (fillfactor = 10);
INSERT INTO catalogue (generation) VALUES (0);

CREATE TABLE datasets (
    namespace text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    live      text COLLATE "C" NOT NULL, -- live version
    PRIMARY KEY (namespace, name)
);

CREATE TABLE versions (
    namespace   text COLLATE "C" NOT NULL,
    name        text COLLATE "C" NOT NULL,
    version     text COLLATE "C" NOT NULL,
    title       text             NOT NULL,
    description text             NOT NULL,
    access      text             NOT NULL,
    fields      text             NOT NULL, -- JSON text
    records     bigint           NOT NULL,
    published   bigint           NOT NULL,
    source      text             NOT NULL,
    details     text             NOT NULL, -- JSON text
    added       bigint           NOT NULL, -- generation that added it
    PRIMARY KEY (namespace, name, version),
    FOREIGN KEY (namespace, name) REFERENCES datasets (namespace, name) ON DELETE CASCADE
);

-- Errors of watched sources whose current state is not published.
CREATE TABLE troubles (
    place     text COLLATE "C" NOT NULL PRIMARY KEY,
    namespace text COLLATE "C" NOT NULL, -- empty, like name, if the dataset is unknown
    name      text COLLATE "C" NOT NULL,
    message   text             NOT NULL,
    since     bigint           NOT NULL
);
