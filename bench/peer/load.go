package peer

import (
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"herbarium/bench/gen"
	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// tables of the database. Values are stored as text, with separate sort keys for numbers and
// titles.
const tables = `
CREATE TABLE items (
	id INTEGER PRIMARY KEY, title TEXT, description TEXT, category TEXT, status TEXT, date TEXT, url TEXT, image TEXT,
	price TEXT, author TEXT, tags TEXT, price_number REAL, title_key BLOB
);
CREATE TABLE item_tags (tag TEXT, item INTEGER);
CREATE VIRTUAL TABLE words USING fts5(
	title, description, category, status, author, tags,
	content='items', content_rowid='id', tokenize='unicode61 remove_diacritics 2'
);`

// indexes are created after the records are inserted. Sort columns have one per direction, because
// ties keep their order in both.
const indexes = `
CREATE INDEX items_category ON items (category);
CREATE INDEX items_status ON items (status);
CREATE INDEX items_author ON items (author);
CREATE INDEX items_date ON items (date);
CREATE INDEX items_date_desc ON items (date DESC);
CREATE INDEX items_price ON items (price_number);
CREATE INDEX items_price_desc ON items (price_number DESC);
CREATE INDEX items_title ON items (title_key);
CREATE INDEX items_title_desc ON items (title_key DESC);
CREATE INDEX item_tags_tag ON item_tags (tag, item);
INSERT INTO words (words) VALUES ('rebuild');
INSERT INTO words (words) VALUES ('optimize');
ANALYZE;`

// Fingerprint identifies the schema, so that an outdated database is not reused.
func Fingerprint() string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(tables+indexes)))
}

// Load creates a database from a file of records. The database file appears only when it is
// complete.
func Load(ctx context.Context, csvPath, dbPath string) (err error) {
	part := dbPath + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	db, err := connect(part, "journal_mode(off)", "synchronous(off)", "cache_size(-262144)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if err := errors.Join(fill(ctx, db, csvPath), db.Close()); err != nil {
		return errors.Join(fmt.Errorf("loading %s: %w", csvPath, err), os.Remove(part))
	}
	return os.Rename(part, dbPath)
}

// fill creates the tables, inserts the records and creates the indexes.
func fill(ctx context.Context, db *sql.DB, csvPath string) error {
	f, err := os.Open(csvPath)
	if err != nil {
		return err
	}
	defer f.Close()
	rows := csv.NewReader(f)
	if header, err := rows.Read(); err != nil || strings.Join(header, ",")+"\n" != gen.Header {
		return errors.Join(fmt.Errorf("the header is %q; want %q", header, gen.Header), err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, tables); err != nil {
		return err
	}
	item, err1 := tx.PrepareContext(ctx,
		"INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, CAST(? AS REAL), ?)")
	tag, err2 := tx.PrepareContext(ctx, "INSERT INTO item_tags VALUES (?, ?)")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	for {
		row, err := rows.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		var args []any
		for _, v := range row {
			args = append(args, v)
		}
		id, title, price, tags := row[0], row[1], row[8], row[10]
		if _, err := item.ExecContext(ctx, append(args, price, []byte(text.CollationKey(title)))...); err != nil {
			return err
		}
		for _, t := range text.Elements(&herb.Field{}, tags) {
			if _, err := tag.ExecContext(ctx, t, id); err != nil {
				return err
			}
		}
	}
	if _, err := tx.ExecContext(ctx, indexes); err != nil {
		return err
	}
	return tx.Commit()
}

func connect(path string, pragmas ...string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+path+"?_pragma="+strings.Join(pragmas, "&_pragma="))
}
