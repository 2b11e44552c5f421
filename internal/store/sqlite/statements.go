package sqlite

import (
	"context"
	"database/sql"
	"strings"
)

// statements are prepared once and run for every batch of plants.
type statements struct {
	readTotal             *sql.Stmt
	insertPlant           *sql.Stmt
	insertWord            *sql.Stmt
	insertWords           *sql.Stmt // wordsPerInsert rows
	countTag              *sql.Stmt
	writeTotals           *sql.Stmt
	findReplay            *sql.Stmt
	addIdempotencyKey     *sql.Stmt
	expireIdempotencyKeys *sql.Stmt
}

const insertWord = "INSERT INTO plant_words (word, seq, field, pos, words) VALUES (?, ?, ?, ?, ?)"

// prepare prepares the statements. They are closed with the connections of db.
func prepare(ctx context.Context, db *sql.DB) (st statements, err error) {
	for _, p := range []struct {
		stmt **sql.Stmt
		sql  string
	}{
		{&st.readTotal, "SELECT plants FROM totals"},
		{&st.insertPlant, "INSERT INTO plants (seq, id, name, name_key, tag, tag_given, tag_key) " +
			"VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"},
		{&st.insertWord, insertWord},
		{&st.insertWords, insertWord + strings.Repeat(", (?, ?, ?, ?, ?)", wordsPerInsert-1)},
		{&st.countTag, "INSERT INTO plant_tags (tag, plants) VALUES (?, ?) " +
			"ON CONFLICT (tag) DO UPDATE SET plants = plant_tags.plants + excluded.plants"},
		{&st.writeTotals, "UPDATE totals SET plants = ?, words = words + ?"},
		{&st.findReplay, "SELECT r.body, p.name, p.tag, p.tag_given FROM retries r JOIN plants p ON p.seq = r.seq " +
			"WHERE r.credential = ? AND r.key = ?"},
		{&st.addIdempotencyKey, "INSERT INTO retries (credential, key, body, seq, created) VALUES (?, ?, ?, ?, ?)"},
		{&st.expireIdempotencyKeys, "DELETE FROM retries WHERE (credential, key) IN " +
			"(SELECT credential, key FROM retries WHERE created < ? ORDER BY created LIMIT ?)"},
	} {
		if *p.stmt, err = db.PrepareContext(ctx, p.sql); err != nil {
			return statements{}, err
		}
	}
	return st, nil
}
