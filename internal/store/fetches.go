package store

import (
	"context"
	"database/sql"
	"time"

	"herbarium/internal/herb"
)

// Fetch is a file that servers fetch and publish as a dataset.
type Fetch struct {
	herb.Ref
	Host     string    // of Address
	Address  string    // as the descriptor has it
	Due      time.Time // of the next fetch; zero: there is none
	Claimed  time.Time // until when the program that fetches it has claimed it; zero: none does
	Attempts int       // that were started
	Content  []byte    // JSON; empty: nothing is known yet
}

const fetchColumns = "namespace, name, host, address, due, claimed, attempts, content"

func scanFetch(rows *sql.Rows) (f Fetch, err error) {
	var due, claimed int64
	err = rows.Scan(&f.Namespace, &f.Name, &f.Host, &f.Address, &due, &claimed, &f.Attempts, &f.Content)
	f.Due, f.Claimed = fetchTime(due), fetchTime(claimed)
	return f, err
}

// fetchTime decodes a time of which 0 is the zero time.
func fetchTime(micro int64) time.Time {
	if micro == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micro).UTC()
}

// fetchMicro encodes a time for fetchTime.
func fetchMicro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// AddFetch stores a file to be fetched in place of that of the dataset. It does nothing if a fetch
// of the latter was started since f was read.
func (s Tables) AddFetch(ctx context.Context, f Fetch) error {
	return s.writeOne(ctx, "adding a fetch", "INSERT INTO fetches ("+fetchColumns+") VALUES (?, ?, ?, ?, ?, 0, ?, ?) "+
		"ON CONFLICT (namespace, name) DO UPDATE SET host = excluded.host, address = excluded.address, "+
		"due = excluded.due, content = excluded.content WHERE fetches.attempts = excluded.attempts",
		f.Namespace, f.Name, f.Host, f.Address, fetchMicro(f.Due), f.Attempts, string(f.Content))
}

// DueFetchHosts returns the hosts with files whose fetch is due, those that have waited longest
// first, except those of which a file is being fetched.
func (s Tables) DueFetchHosts(ctx context.Context, now time.Time) ([]string, error) {
	return readRows(ctx, s, "reading due fetches", scanValue[string], "SELECT host FROM fetches AS f WHERE "+
		"due > 0 AND due <= ? AND NOT EXISTS (SELECT 1 FROM fetches AS o WHERE o.host = f.host AND o.claimed > ?) "+
		"GROUP BY host ORDER BY MIN(due), host",
		now.UnixMicro(), now.UnixMicro())
}

// ClaimFetch claims the file of a host whose fetch has been due longest, or that of a dataset,
// until a time, unless a file of the host is being fetched. nil: there is none.
func (s Tables) ClaimFetch(ctx context.Context, host string, ref herb.Ref, now, until time.Time) (claimed *Fetch,
	err error) {
	which, args := "SELECT namespace, name FROM fetches WHERE host = ? AND due > 0 AND due <= ? ORDER BY due, "+
		"namespace, name LIMIT 1", []any{until.UnixMicro(), host, now.UnixMicro()}
	if ref != (herb.Ref{}) {
		which, args = "SELECT namespace, name FROM fetches WHERE namespace = ? AND name = ?",
			[]any{until.UnixMicro(), ref.Namespace, ref.Name}
	}
	err = s.write(ctx, "claiming a fetch", func(ctx context.Context, tx Tx) error {
		found, err := collect(ctx, tx, scanFetch, "UPDATE fetches SET attempts = attempts + 1, claimed = ? "+
			"WHERE (namespace, name) IN ("+which+") AND NOT EXISTS (SELECT 1 FROM fetches AS o WHERE o.host = "+
			"fetches.host AND o.claimed > ?) RETURNING "+fetchColumns, append(args, now.UnixMicro())...)
		claimed = nil
		if len(found) > 0 {
			claimed = &found[0]
		}
		return err
	})
	return claimed, err
}

// UpdateFetch replaces the times and the content of a file that was claimed. It reports false, and
// does nothing, if another program has claimed it since, or its address has changed.
func (s Tables) UpdateFetch(ctx context.Context, f Fetch) (updated bool, err error) {
	err = s.write(ctx, "recording a fetch", func(ctx context.Context, tx Tx) error {
		n, err := execCount(ctx, tx, "UPDATE fetches SET due = ?, claimed = ?, content = ? "+ofRef+
			" AND attempts = ? AND address = ?", fetchMicro(f.Due), fetchMicro(f.Claimed), string(f.Content),
			f.Namespace, f.Name, f.Attempts, f.Address)
		updated = n > 0
		return err
	})
	return updated && err == nil, err
}

// RemoveFetch removes the file of a dataset.
func (s Tables) RemoveFetch(ctx context.Context, ref herb.Ref) error {
	return s.writeOne(ctx, "removing a fetch", "DELETE FROM fetches "+ofRef, ref.Namespace, ref.Name)
}

// Fetches returns the files that are fetched, ordered by dataset: that of a dataset, or all of them
// if ref is zero.
func (s Tables) Fetches(ctx context.Context, ref herb.Ref) ([]Fetch, error) {
	return readRows(ctx, s, "reading fetches", scanFetch, "SELECT "+fetchColumns+
		" FROM fetches WHERE ? = '' OR namespace = ? AND name = ? ORDER BY namespace, name",
		ref.Namespace, ref.Namespace, ref.Name)
}
