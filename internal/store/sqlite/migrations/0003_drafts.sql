-- compatible: 1

-- Files that wait to be published. Earlier releases store them among the publishes; their nodes keep using those records, which
-- expire after a day.
CREATE TABLE drafts (
    id      TEXT    NOT NULL PRIMARY KEY, -- random
    owner   TEXT    NOT NULL,             -- ID of the key that sent the file
    stored  INTEGER NOT NULL,             -- 0: the file is being stored
    updated INTEGER NOT NULL,
    content BLOB    NOT NULL              -- JSON
) STRICT, WITHOUT ROWID;
CREATE INDEX drafts_owner ON drafts (owner);
INSERT INTO drafts (id, owner, stored, updated, content)
SELECT id, json_extract(CAST(content AS TEXT), '$.owner'), 1, updated, content FROM publishes WHERE id LIKE 'draft-%' AND running = 0;
