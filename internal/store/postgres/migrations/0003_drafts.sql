-- compatible: 1

-- Files that wait to be published. Earlier releases store them among the publishes; their nodes keep using those records, which
-- expire after a day.
CREATE TABLE drafts (
    id      text COLLATE "C" NOT NULL PRIMARY KEY, -- random
    owner   text COLLATE "C" NOT NULL,             -- ID of the key that sent the file
    stored  boolean          NOT NULL,             -- false: the file is being stored
    updated bigint           NOT NULL,
    content bytea            NOT NULL              -- JSON
);
CREATE INDEX drafts_owner ON drafts (owner);
-- A pattern reads the owner, an ID without quotes: json operators reject content with \u0000, which names and values of files may have.
INSERT INTO drafts (id, owner, stored, updated, content)
SELECT id, substring(convert_from(content, 'UTF8') FROM '"owner":"([^"]*)"'), true, updated, content FROM publishes WHERE id LIKE 'draft-%' AND NOT running;
