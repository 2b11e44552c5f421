package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Querier runs queries with ? placeholders. One listing must see one state of the database.
type Querier interface {
	querier
	// ArrayElements returns a SELECT of the elements of a JSON array of integers, which is its only parameter.
	ArrayElements() string
}

// ListPlants answers a listing of the plants with portable SQL over these tables, which every database must have:
//
//	plants      (seq, id, name, name_key, tag, tag_key): seq counts from 1 without gaps, in creation order
//	plant_words (word, seq, field, pos, words): words is the number of words of the plant
//	plant_tags  (tag, plants): number of plants with the tag
//	totals      (plants, words): one row
//
// The seqs of the page are read first, from an index where possible, and then only those plants.
func ListPlants(ctx context.Context, q Querier, r *query.Request) (query.Page, error) {
	l, err := newLister(ctx, q, r)
	if err != nil {
		return query.Page{}, err
	}
	total, seqs, err := l.page(ctx)
	if err != nil || len(seqs) == 0 {
		return query.Page{Total: total}, err
	}
	records, err := l.read(ctx, seqs)
	return query.Page{Total: total, Records: records}, err
}

// lister lists the plants of one request.
type lister struct {
	q      Querier
	r      *query.Request
	sort   int
	filter fragment // of the conditions

	plants, words int // totals
}

func newLister(ctx context.Context, q Querier, r *query.Request) (*lister, error) {
	l := &lister{q: q, r: r, sort: r.Sort, filter: filter(r.Conditions)}
	// Among plants with one value of the sort field, sorting means creation order.
	if r.Sort != query.NoSort && slices.ContainsFunc(r.Conditions, func(c query.Condition) bool {
		return c.Field == r.Sort && c.Op == query.OpEq && len(c.Values) == 1
	}) {
		l.sort = query.NoSort
	}
	return l, l.row(ctx, fragment{sql: "SELECT plants, words FROM totals"}, &l.plants, &l.words)
}

// page returns the number of matching plants and the seqs of the page, in order.
func (l *lister) page(ctx context.Context) (total int, seqs []int64, err error) {
	var ranked []int64
	where := l.filter
	if l.r.Search != nil {
		ranked, where, total, err = l.resolveSearch(ctx)
	} else {
		total, err = l.total(ctx)
	}
	from := min(l.r.Offset(), total)
	to := min(from+l.r.PerPage, total)
	all := part{where: where, n: total}
	switch {
	case err != nil || from == to:
	case ranked != nil:
		seqs = ranked[from:to]
	case l.r.Search != nil:
		seqs, err = l.numbers(ctx, l.inOrder(where).suffixed(" LIMIT ? OFFSET ?", to-from, from))
	case l.sort == query.NoSort && where.sql == always.sql:
		seqs = seqRange(from+1, to+1)
	case l.sort == query.NoSort:
		seqs, err = l.creationOrder(ctx, all, from, to)
	case l.sort == fieldID:
		all.key, all.unique = "id", true
		seqs, err = l.keyOrder(ctx, all, from, to)
	case l.sort == fieldName:
		all.key = "name_key"
		seqs, err = l.keyOrder(ctx, all, from, to)
	default:
		seqs, err = l.tagOrder(ctx, all, from, to)
	}
	return total, seqs, err
}

// total returns the number of plants that match the conditions.
func (l *lister) total(ctx context.Context) (int, error) {
	if l.filter.sql == always.sql {
		return l.plants, nil
	}
	if len(l.r.Conditions) == 1 && l.r.Conditions[0].Field == fieldTag {
		c := l.r.Conditions[0]
		if c.Op == query.OpEq || c.Op == query.OpNe {
			n, err := l.tagged(ctx, texts(c.Values))
			if c.Op == query.OpNe {
				n = l.plants - n
			}
			return n, err
		}
	}
	return l.count(ctx, l.filter)
}

// tagged returns the number of plants with one of the tags, from the maintained counts.
func (l *lister) tagged(ctx context.Context, tags []any) (n int, err error) {
	err = l.row(ctx, oneOf("tag", tags).prefixed("SELECT coalesce(sum(plants), 0) FROM plant_tags WHERE "), &n)
	return n, err
}

func (l *lister) count(ctx context.Context, where fragment) (n int, err error) {
	err = l.row(ctx, where.prefixed("SELECT count(*) FROM plants WHERE "), &n)
	return n, err
}

// inOrder returns the statement for the seqs of all plants that match a condition, in the order of the request.
func (l *lister) inOrder(where fragment) fragment {
	return fragment{"SELECT seq FROM plants WHERE " + where.sql + " ORDER BY " + l.orderBy(), where.args}
}

// numbers runs a statement that selects seqs.
func (l *lister) numbers(ctx context.Context, f fragment) ([]int64, error) {
	return collect(ctx, l.q, scanValue[int64], f.sql, f.args...)
}

// orderBy returns the ORDER BY clause of the request.
func (l *lister) orderBy() string {
	direction := ""
	if l.r.Desc {
		direction = " DESC"
	}
	switch l.sort {
	case query.NoSort:
		return "seq"
	case fieldID:
		return "id" + direction
	case fieldName:
		return "name_key" + direction + ", seq"
	default:
		return "CASE WHEN tag = '' THEN 1 ELSE 0 END, tag_key" + direction + ", seq"
	}
}

// read returns the plants with the given seqs as JSON, in that order.
func (l *lister) read(ctx context.Context, seqs []int64) ([][]byte, error) {
	positions, args := make(map[int64]int, len(seqs)), make([]any, len(seqs))
	for i, seq := range seqs {
		positions[seq], args[i] = i, seq
	}
	where, fields, records := oneOf("seq", args), herb.PlantFields(), make([][]byte, len(seqs))
	read, err := collect(ctx, l.q, func(rows *sql.Rows) (seq int64, err error) {
		r := make(herb.Record, len(fields))
		err = rows.Scan(&seq, &r[fieldID], &r[fieldName], &r[fieldTag])
		records[positions[seq]] = r.AppendJSON(nil, fields)
		return seq, err
	}, "SELECT seq, id, name, tag FROM plants WHERE "+where.sql, where.args...)
	if err == nil && len(read) != len(seqs) {
		err = fmt.Errorf("%d of %d plants are missing from the database", len(seqs)-len(read), len(seqs))
	}
	return records, err
}

// row runs a query that returns one row.
func (l *lister) row(ctx context.Context, f fragment, dest ...any) error {
	rows, err := collect(ctx, l.q, func(rows *sql.Rows) (struct{}, error) { return struct{}{}, rows.Scan(dest...) }, f.sql, f.args...)
	if err == nil && len(rows) == 0 {
		err = sql.ErrNoRows
	}
	return err
}
