-- compatible: 1

-- Files that servers fetch, and what is known about them. due is the time of the next fetch, 0 if there is none. Until the time
-- claimed, which the program that fetches extends, no other program does; of a host, one file is fetched at a time.
CREATE TABLE fetches (
    namespace text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    host      text COLLATE "C" NOT NULL,
    address   text COLLATE "C" NOT NULL,
    due       bigint NOT NULL,
    claimed   bigint NOT NULL,
    attempts  bigint NOT NULL,
    content   text COLLATE "C" NOT NULL,
    PRIMARY KEY (namespace, name)
);
