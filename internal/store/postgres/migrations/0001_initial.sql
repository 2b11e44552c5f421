-- compatible: 1

-- Plants are a log: they are numbered from 1 without a gap in commit order and never change. Listings read segments that are
-- built from it, so it has no index but those of its two keys. Text compares bytewise, regardless of the collation of the
-- database.
CREATE TABLE plants (
    seq       bigint           NOT NULL PRIMARY KEY,
    id        bigint           NOT NULL,
    name      text COLLATE "C" NOT NULL,
    tag       text COLLATE "C" NOT NULL, -- empty if none was given
    tag_given boolean          NOT NULL,
    batch     bigint           NOT NULL  -- random number of the transaction, to find out whether it was committed
);
CREATE UNIQUE INDEX plants_id ON plants (id) INCLUDE (seq);

-- Creating plants locks this row first. The fill factor leaves room for heap-only updates.
CREATE TABLE totals (
    epoch  text   NOT NULL, -- identifies the database
    plants bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO totals (epoch, plants) VALUES (gen_random_uuid()::text, 0);

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

CREATE INDEX versions_version ON versions (version);
CREATE INDEX versions_protected ON versions (namespace, name, version) WHERE access = 'key';

-- The words by which the catalogue page finds a version: each after a line feed, in Unicode-folded form.
CREATE TABLE version_words (
    namespace text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    version   text COLLATE "C" NOT NULL,
    words     text             NOT NULL,
    PRIMARY KEY (namespace, name, version),
    FOREIGN KEY (namespace, name, version) REFERENCES versions (namespace, name, version) ON DELETE CASCADE
);

-- The live version of each dataset, without its description, and the generation of its last change, so that a node reads
-- only what changed since the generation that it knows. A removed dataset stays here without a version. The generation is
-- increased before a change.
CREATE TABLE live_versions (
    namespace  text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    version    text COLLATE "C" NOT NULL, -- empty: the dataset was removed
    records    bigint           NOT NULL,
    published  bigint           NOT NULL,
    generation bigint           NOT NULL,
    PRIMARY KEY (namespace, name)
);
CREATE INDEX live_versions_generation ON live_versions (generation);

CREATE FUNCTION version_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO live_versions (namespace, name, version, records, published, generation)
    SELECT NEW.namespace, NEW.name, NEW.version, NEW.records, NEW.published, c.generation
    FROM datasets AS d, catalogue AS c WHERE d.namespace = NEW.namespace AND d.name = NEW.name AND d.live = NEW.version
    ON CONFLICT (namespace, name) DO UPDATE SET
        version = excluded.version, records = excluded.records, published = excluded.published, generation = excluded.generation;
    RETURN NULL;
END
$$;
CREATE TRIGGER versions_inserted AFTER INSERT ON versions FOR EACH ROW EXECUTE FUNCTION version_inserted();

CREATE FUNCTION dataset_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE live_versions AS l
    SET version = v.version, records = v.records, published = v.published, generation = c.generation
    FROM versions AS v, catalogue AS c
    WHERE l.namespace = NEW.namespace AND l.name = NEW.name
        AND v.namespace = NEW.namespace AND v.name = NEW.name AND v.version = NEW.live;
    RETURN NULL;
END
$$;
CREATE TRIGGER datasets_updated AFTER UPDATE ON datasets FOR EACH ROW EXECUTE FUNCTION dataset_updated();

CREATE FUNCTION dataset_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE live_versions SET version = '', records = 0, published = 0, generation = (SELECT generation FROM catalogue)
    WHERE namespace = OLD.namespace AND name = OLD.name;
    RETURN NULL;
END
$$;
CREATE TRIGGER datasets_deleted AFTER DELETE ON datasets FOR EACH ROW EXECUTE FUNCTION dataset_deleted();

-- Versions that are not in the catalogue; garbage collection removes their files later.
CREATE TABLE retired (
    version text COLLATE "C" NOT NULL PRIMARY KEY,
    since   bigint           NOT NULL
);

-- Watched sources whose current state is not published, and why.
CREATE TABLE source_errors (
    path      text COLLATE "C" NOT NULL PRIMARY KEY,
    namespace text COLLATE "C" NOT NULL, -- empty, like name, if the dataset is unknown
    name      text COLLATE "C" NOT NULL,
    message   text             NOT NULL,
    skipped   boolean          NOT NULL, -- left out on purpose; otherwise it failed
    since     bigint           NOT NULL
);

-- Audit log of changes to keys and datasets.
CREATE TABLE audit (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    time    bigint           NOT NULL,
    action  text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    actor   text COLLATE "C" NOT NULL,
    origin  text COLLATE "C" NOT NULL,
    result  text COLLATE "C" NOT NULL,
    detail  text COLLATE "C" NOT NULL
);
CREATE INDEX audit_time    ON audit (time);
CREATE INDEX audit_subject ON audit (subject, time);

-- Written to while writes fail, to detect recovery; otherwise empty.
CREATE TABLE write_probe (
    padding bytea NOT NULL
);

-- Programs that use the database. A row is renewed every few seconds and deleted when its program ends.
CREATE TABLE programs (
    id             text COLLATE "C" NOT NULL PRIMARY KEY, -- random
    schema_version bigint           NOT NULL,             -- that it uses
    name           text             NOT NULL,             -- host and process
    seen           timestamptz      NOT NULL
);
