package store

import (
	"bytes"
	"context"
	"database/sql"
	"math"
	"slices"
)

// part is a set of plants that an index holds in order: by a key, then by seq.
type part struct {
	where  fragment
	key    string // column; empty: by seq only
	unique bool   // the key is unique
	n      int    // size of the set
}

// entry is the position of a plant in an order.
type entry struct {
	seq int64
	key []byte // unset if the part has no key or a unique one
}

func (e entry) number() int64     { return e.seq }
func (c candidate) number() int64 { return c.seq }

// seqsOf returns the seqs of plants.
func seqsOf[E interface{ number() int64 }](plants []E) []int64 {
	seqs := make([]int64, len(plants))
	for i, p := range plants {
		seqs[i] = p.number()
	}
	return seqs
}

// span returns the entries in a range of positions in ascending order, read from the nearer end.
func (l *lister) span(ctx context.Context, p part, from, to int) ([]entry, error) {
	columns, forward, backward := "seq", "seq", "seq DESC"
	if p.key != "" {
		forward, backward = p.key+", seq", p.key+" DESC, seq DESC"
	}
	ties := p.key != "" && !p.unique
	if ties {
		columns = "seq, " + p.key
	}
	if p.unique {
		forward, backward = p.key, p.key+" DESC"
	}
	reverse := p.n-to < from
	order, skip := forward, from
	if reverse {
		order, skip = backward, p.n-to
	}
	f := p.where.prefixed("SELECT "+columns+" FROM plants WHERE ").suffixed(" ORDER BY "+order+" LIMIT ? OFFSET ?", to-from, skip)
	entries, err := collect(ctx, l.q, func(rows *sql.Rows) (e entry, err error) {
		if ties {
			err = rows.Scan(&e.seq, &e.key)
		} else {
			err = rows.Scan(&e.seq)
		}
		return e, err
	}, f.sql, f.args...)
	if reverse {
		slices.Reverse(entries)
	}
	return entries, err
}

// creationOrder returns the seqs in a range of positions in creation order.
func (l *lister) creationOrder(ctx context.Context, p part, from, to int) ([]int64, error) {
	p.key = ""
	entries, err := l.span(ctx, p, from, to)
	return seqsOf(entries), err
}

// keyOrder returns the seqs in a range of positions of a part in the order of the request.
func (l *lister) keyOrder(ctx context.Context, p part, from, to int) ([]int64, error) {
	if !l.r.Desc {
		entries, err := l.span(ctx, p, from, to)
		return seqsOf(entries), err
	}
	entries, err := l.span(ctx, p, p.n-to, p.n-from)
	if err != nil {
		return nil, err
	}
	slices.Reverse(entries)
	seqs := seqsOf(entries)
	if p.unique {
		return seqs, nil
	}
	// Keys are now in descending order, but so are the plants within each run of equal keys. Runs that lie completely on the
	// page are reversed; for the first and the last run, the plants of the page are read again.
	for start := 0; start < len(entries); {
		key := entries[start].key
		end := start + 1
		for end < len(entries) && bytes.Equal(entries[end].key, key) {
			end++
		}
		if start > 0 && end < len(entries) {
			slices.Reverse(seqs[start:end])
		} else {
			ties, err := l.ties(ctx, p, entries[start], start == 0, end-start)
			if err != nil {
				return nil, err
			}
			copy(seqs[start:end], ties)
		}
		start = end
	}
	return seqs, nil
}

// ties returns n plants of one run of equal keys in creation order. first is the first of the run on the page in reverse
// order; if the run may have begun on an earlier page, the plants shown there are skipped.
func (l *lister) ties(ctx context.Context, p part, first entry, begun bool, n int) ([]int64, error) {
	run := and(p.where, fragment{p.key + " = ?", []any{first.key}})
	skip := 0
	if begun {
		var err error
		if skip, err = l.count(ctx, and(run, fragment{"seq > ?", []any{first.seq}})); err != nil {
			return nil, err
		}
	}
	// Finding the length of the run would need another count, so it is read from its start.
	return l.creationOrder(ctx, part{where: run, n: math.MaxInt}, skip, skip+n)
}

// tagOrder is keyOrder by tag. Plants without a tag come last in both directions.
func (l *lister) tagOrder(ctx context.Context, all part, from, to int) ([]int64, error) {
	empty := part{where: and(all.where, fragment{sql: "tag = ''"})}
	var err error
	if all.where.sql == always.sql {
		empty.n, err = l.tagged(ctx, []any{""})
	} else {
		empty.n, err = l.count(ctx, empty.where)
	}
	if err != nil {
		return nil, err
	}
	given := part{where: and(all.where, fragment{sql: "tag_key IS NOT NULL"}), key: "tag_key", n: all.n - empty.n}
	var seqs []int64
	if from < given.n {
		if seqs, err = l.keyOrder(ctx, given, from, min(to, given.n)); err != nil {
			return nil, err
		}
	}
	if to > given.n {
		rest, err := l.creationOrder(ctx, empty, max(from-given.n, 0), to-given.n)
		if err != nil {
			return nil, err
		}
		seqs = append(seqs, rest...)
	}
	return seqs, nil
}
