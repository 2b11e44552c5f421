-- The generation of the last change of each dataset, so that a process reads only what changed since the generation that it
-- knows. A removed dataset stays here. The generation is increased before the change.
CREATE TABLE changes (
    namespace  TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_generation ON changes (generation);

CREATE TRIGGER datasets_inserted AFTER INSERT ON datasets BEGIN
    INSERT INTO changes (namespace, name, generation) SELECT NEW.namespace, NEW.name, generation FROM catalogue WHERE true
    ON CONFLICT (namespace, name) DO UPDATE SET generation = excluded.generation;
END;
CREATE TRIGGER datasets_updated AFTER UPDATE ON datasets BEGIN
    INSERT INTO changes (namespace, name, generation) SELECT NEW.namespace, NEW.name, generation FROM catalogue WHERE true
    ON CONFLICT (namespace, name) DO UPDATE SET generation = excluded.generation;
END;
CREATE TRIGGER datasets_deleted AFTER DELETE ON datasets BEGIN
    INSERT INTO changes (namespace, name, generation) SELECT OLD.namespace, OLD.name, generation FROM catalogue WHERE true
    ON CONFLICT (namespace, name) DO UPDATE SET generation = excluded.generation;
END;

-- All columns of the list of live versions, to read it without the descriptions.
CREATE UNIQUE INDEX versions_summary ON versions (namespace, name, version, records, published);
CREATE INDEX versions_version ON versions (version);
CREATE INDEX versions_protected ON versions (namespace, name, version) WHERE access = 'key';
