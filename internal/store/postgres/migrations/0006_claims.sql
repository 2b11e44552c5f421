-- compatible: 1

-- Work that one node does for all, such as rebuilding the index of a version. After a claim has expired, another node may begin
-- the work.
CREATE TABLE claims (
    name   text COLLATE "C" PRIMARY KEY,
    holder text COLLATE "C" NOT NULL,
    until  bigint           NOT NULL
);

-- Whether the program is a server that is ready for requests. Earlier releases do not say.
ALTER TABLE programs ADD COLUMN serving boolean NOT NULL DEFAULT false;
