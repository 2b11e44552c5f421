-- +goose Up

-- Versions that are in the catalogue no more, or never were, and whose files are removed when nobody can need them.
CREATE TABLE retired (
    version text COLLATE "C" NOT NULL PRIMARY KEY,
    since   bigint           NOT NULL
);
