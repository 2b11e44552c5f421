-- +goose Up

-- Versions that are not in the catalogue; garbage collection removes their files later.
CREATE TABLE retired (
    version text COLLATE "C" NOT NULL PRIMARY KEY,
    since   bigint           NOT NULL
);
