-- +goose Up

-- The live version of each dataset, without its description, and the generation of its last change, so that a node reads
-- only what changed since the generation that it knows. A removed dataset stays here without a version. The generation is
-- increased before a change. Nodes of an earlier release change datasets too, hence the triggers.
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

INSERT INTO live_versions (namespace, name, version, records, published, generation)
SELECT v.namespace, v.name, v.version, v.records, v.published, c.generation
FROM datasets AS d JOIN versions AS v ON v.namespace = d.namespace AND v.name = d.name AND v.version = d.live, catalogue AS c;

-- +goose StatementBegin
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
-- +goose StatementEnd
CREATE TRIGGER versions_inserted AFTER INSERT ON versions FOR EACH ROW EXECUTE FUNCTION version_inserted();

-- +goose StatementBegin
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
-- +goose StatementEnd
CREATE TRIGGER datasets_updated AFTER UPDATE ON datasets FOR EACH ROW EXECUTE FUNCTION dataset_updated();

-- +goose StatementBegin
CREATE FUNCTION dataset_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE live_versions SET version = '', records = 0, published = 0, generation = (SELECT generation FROM catalogue)
    WHERE namespace = OLD.namespace AND name = OLD.name;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER datasets_deleted AFTER DELETE ON datasets FOR EACH ROW EXECUTE FUNCTION dataset_deleted();

CREATE INDEX versions_version ON versions (version);
CREATE INDEX versions_protected ON versions (namespace, name, version) WHERE access = 'key';

-- The words by which the catalogue page finds a version: each after a line feed, in Unicode-folded form. Versions of earlier
-- releases have none.
CREATE TABLE version_words (
    namespace text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    version   text COLLATE "C" NOT NULL,
    words     text             NOT NULL,
    PRIMARY KEY (namespace, name, version),
    FOREIGN KEY (namespace, name, version) REFERENCES versions (namespace, name, version) ON DELETE CASCADE
);
