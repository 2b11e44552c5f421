package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"herbarium/internal/store"
)

// statements are prepared once and run for every batch of plants.
type statements struct {
	readTotal, writeTotals, countTag   *sql.Stmt
	findIDs, insertPlant               *sql.Stmt
	insertWord, insertWords            *sql.Stmt // one row, and wordsPerInsert rows
	findReplays, insertKey, expireKeys *sql.Stmt
}

const insertWord = "INSERT INTO plant_words (word, seq, field, pos, words) VALUES (?, ?, ?, ?, ?)"

// prepare prepares the statements. They are closed with the connections of db.
func prepare(ctx context.Context, db *sql.DB) (st statements, err error) {
	for _, p := range []struct {
		stmt **sql.Stmt
		sql  string
	}{
		{&st.readTotal, "SELECT plants FROM totals"},
		{&st.writeTotals, "UPDATE totals SET plants = plants + ?, words = words + ?"},
		{&st.countTag, "INSERT INTO plant_tags (tag, plants) VALUES (?, ?) " +
			"ON CONFLICT (tag) DO UPDATE SET plants = plant_tags.plants + excluded.plants"},
		{&st.findIDs, "SELECT id FROM plants WHERE id IN (SELECT value FROM json_each(?))"},
		{&st.insertPlant, "INSERT INTO plants (seq, id, name, name_key, tag, tag_given, tag_key) VALUES (?, ?, ?, ?, ?, ?, ?)"},
		{&st.insertWord, insertWord},
		{&st.insertWords, insertWord + strings.Repeat(", (?, ?, ?, ?, ?)", wordsPerInsert-1)},
		{&st.findReplays, "SELECT r.credential, r.key, r.body, p.name, p.tag, p.tag_given FROM retries r JOIN plants p ON p.seq = r.seq " +
			"WHERE (r.credential, r.key) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))"},
		{&st.insertKey, "INSERT INTO retries (credential, key, body, seq, created) VALUES (?, ?, ?, ?, ?)"},
		{&st.expireKeys, store.ExpireIdempotencyKeys},
	} {
		if *p.stmt, err = db.PrepareContext(ctx, p.sql); err != nil {
			return statements{}, err
		}
	}
	return st, nil
}
