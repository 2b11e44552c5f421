-- +goose Up

-- Plants are numbered from 1 without a gap in the order of their commits and never change: a page of the listing without
-- conditions is found by number alone. Texts compare byte by byte, whatever the database sorts by. Every index has the
-- number too, so that a page far behind is found without a look at the plants before it.
CREATE TABLE plants (
    seq       bigint           NOT NULL PRIMARY KEY,
    id        bigint           NOT NULL,
    name      text COLLATE "C" NOT NULL,
    name_key  bytea            NOT NULL,
    tag       text COLLATE "C" NOT NULL, -- empty also when none was given
    tag_given boolean          NOT NULL,
    tag_key   bytea,                     -- NULL for an empty tag
    batch     bigint           NOT NULL  -- a random number for each transaction; tells later whether it was committed
);
CREATE UNIQUE INDEX plants_id ON plants (id) INCLUDE (seq);
CREATE INDEX plants_name     ON plants (name, seq);
CREATE INDEX plants_name_key ON plants (name_key, seq);
CREATE INDEX plants_tag      ON plants (tag, seq);
CREATE INDEX plants_tag_id   ON plants (tag, id) INCLUDE (seq);
CREATE INDEX plants_tag_name ON plants (tag, name_key, seq);
CREATE INDEX plants_tag_key  ON plants (tag_key, seq) WHERE tag_key IS NOT NULL;

-- The words of names and tags, for searches. The number of words of the plant is repeated so that a search is scored
-- without a look at the plants.
CREATE TABLE plant_words (
    word  text COLLATE "C" NOT NULL,
    seq   bigint           NOT NULL,
    field integer          NOT NULL,
    pos   integer          NOT NULL,
    words integer          NOT NULL,
    PRIMARY KEY (word, seq, field, pos) INCLUDE (words)
);
CREATE INDEX plant_words_place ON plant_words (seq, field, pos);

-- What would take long to count. Pages are kept half empty, so that a row that changes often stays where it is.
CREATE TABLE plant_tags (
    tag    text COLLATE "C" NOT NULL PRIMARY KEY,
    plants bigint           NOT NULL
) WITH (fillfactor = 50);

-- Whoever creates plants locks this row first.
CREATE TABLE totals (
    epoch  text   NOT NULL, -- tells this database from any other
    plants bigint NOT NULL,
    words  bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO totals (epoch, plants, words) VALUES (gen_random_uuid()::text, 0, 0);

-- What was created under which retry key. Times are microseconds since 1970, here and below.
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
    scopes    text             NOT NULL, -- separated by blanks
    hash      bytea            NOT NULL,
    created   bigint           NOT NULL,
    expires   bigint,
    revoked   bigint,
    last_used bigint
);

-- Whoever changes keys, or one of the tables below, locks this row first.
CREATE TABLE catalogue (
    generation bigint NOT NULL -- goes up with every change of the next two tables
) WITH (fillfactor = 10);
INSERT INTO catalogue (generation) VALUES (0);

CREATE TABLE datasets (
    namespace text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    live      text COLLATE "C" NOT NULL, -- the version that is listed
    PRIMARY KEY (namespace, name)
);

CREATE TABLE versions (
    namespace   text COLLATE "C" NOT NULL,
    name        text COLLATE "C" NOT NULL,
    version     text COLLATE "C" NOT NULL,
    title       text             NOT NULL,
    description text             NOT NULL,
    access      text             NOT NULL,
    fields      text             NOT NULL, -- JSON, as it was written
    records     bigint           NOT NULL,
    published   bigint           NOT NULL,
    source      text             NOT NULL,
    details     text             NOT NULL, -- JSON, as it was written
    added       bigint           NOT NULL, -- the generation it came with
    PRIMARY KEY (namespace, name, version),
    FOREIGN KEY (namespace, name) REFERENCES datasets (namespace, name) ON DELETE CASCADE
);

-- Why sources that are watched are not published as they are now.
CREATE TABLE troubles (
    place     text COLLATE "C" NOT NULL PRIMARY KEY,
    namespace text COLLATE "C" NOT NULL, -- empty, as the next, if it cannot be told what dataset it would become
    name      text COLLATE "C" NOT NULL,
    message   text             NOT NULL,
    since     bigint           NOT NULL
);
