-- compatible: 1

-- What lists show of a version without its details, as JSON text. Empty: an earlier release has added the version.
ALTER TABLE versions ADD COLUMN summary text NOT NULL DEFAULT '';

-- Names that publishers have given to versions. A version with a label is kept.
CREATE TABLE labels (
    namespace text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    label     text COLLATE "C" NOT NULL,
    version   text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, name, label),
    FOREIGN KEY (namespace, name, version) REFERENCES versions (namespace, name, version) ON DELETE CASCADE
);
CREATE INDEX labels_version ON labels (namespace, name, version);

-- Versions that nobody may read any more. They never enter the catalogue again, even if their dataset was removed.
CREATE TABLE withdrawn (
    namespace  text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    version    text COLLATE "C" NOT NULL,
    access     text             NOT NULL,
    published  bigint           NOT NULL,
    since      bigint           NOT NULL,
    generation bigint           NOT NULL, -- of the catalogue that has withdrawn it
    PRIMARY KEY (namespace, name, version)
);
CREATE INDEX withdrawn_version ON withdrawn (version);
CREATE INDEX withdrawn_generation ON withdrawn (generation);
