-- +goose Up

-- The generation of the last change of each dataset, so that a node reads only what changed since the generation that it
-- knows. A removed dataset stays here. The generation is increased before the change. Nodes of an earlier release change
-- datasets too, hence the trigger.
CREATE TABLE changes (
    namespace  text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    generation bigint           NOT NULL,
    PRIMARY KEY (namespace, name)
);
CREATE INDEX changes_generation ON changes (generation);

-- +goose StatementBegin
CREATE FUNCTION record_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    dataset datasets;
BEGIN
    IF TG_OP = 'DELETE' THEN
        dataset := OLD;
    ELSE
        dataset := NEW;
    END IF;
    INSERT INTO changes (namespace, name, generation) SELECT dataset.namespace, dataset.name, generation FROM catalogue
    ON CONFLICT (namespace, name) DO UPDATE SET generation = excluded.generation;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER datasets_changed AFTER INSERT OR UPDATE OR DELETE ON datasets FOR EACH ROW EXECUTE FUNCTION record_change();

-- All columns of the list of live versions, to read it without the descriptions.
CREATE INDEX versions_summary ON versions (namespace, name, version) INCLUDE (records, published);
CREATE INDEX versions_version ON versions (version);
CREATE INDEX versions_protected ON versions (namespace, name, version) WHERE access = 'key';
