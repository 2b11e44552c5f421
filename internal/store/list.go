package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Querier runs a SELECT with ? placeholders. One listing must see one state of the database.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
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
// The seqs of the page are found first, through an index where possible; only those plants are then read.
func ListPlants(ctx context.Context, q Querier, r *query.Request) (query.Page, error) {
	if r.Search != nil && len(r.Search.Clauses) == 0 {
		return query.Page{}, nil
	}
	l, err := newLister(ctx, q, r)
	if err != nil {
		return query.Page{}, err
	}
	total, seqs, err := l.findPage(ctx)
	if err != nil {
		return query.Page{}, err
	}
	records, err := l.read(ctx, seqs)
	if err != nil {
		return query.Page{}, err
	}
	return query.Page{Total: total, Records: records}, nil
}

// lister finds the page of one request.
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
	return l, l.readTotals(ctx)
}

func (l *lister) readTotals(ctx context.Context) error {
	return l.row(ctx, fragment{sql: "SELECT plants, words FROM totals"}, &l.plants, &l.words)
}

// findPage returns the number of matching plants and the seqs of the page, in order.
func (l *lister) findPage(ctx context.Context) (total int, seqs []int64, err error) {
	if l.r.Search != nil {
		return l.search(ctx)
	}
	if total, err = l.total(ctx); err != nil {
		return 0, nil, err
	}
	from, to := l.pageBounds(total)
	if from == to {
		return total, nil, nil
	}
	all := part{where: l.filter, n: total}
	switch l.sort {
	case query.NoSort:
		if l.filter.sql == always.sql {
			return total, seqRange(from+1, to+1), nil
		}
		seqs, err = l.creationOrder(ctx, all, from, to)
	case fieldID:
		all.key, all.unique = "id", true
		seqs, err = l.keyOrder(ctx, all, from, to)
	case fieldName:
		all.key = "name_key"
		seqs, err = l.keyOrder(ctx, all, from, to)
	default:
		seqs, err = l.tagOrder(ctx, all, from, to)
	}
	return total, seqs, err
}

// pageBounds returns the offsets of the page within the matches.
func (l *lister) pageBounds(total int) (from, to int) {
	from = min(l.r.Offset(), total)
	return from, min(from+l.r.PerPage, total)
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
	where := oneOf("tag", tags)
	err = l.row(ctx, fragment{"SELECT coalesce(sum(plants), 0) FROM plant_tags WHERE " + where.sql, where.args}, &n)
	return n, err
}

func (l *lister) count(ctx context.Context, where fragment) (n int, err error) {
	err = l.row(ctx, fragment{"SELECT count(*) FROM plants WHERE " + where.sql, where.args}, &n)
	return n, err
}

// inOrder returns the statement for the seqs of all plants that match a condition, in the order of the request.
func (l *lister) inOrder(where fragment) fragment {
	return fragment{"SELECT seq FROM plants WHERE " + where.sql + " ORDER BY " + l.orderBy(), where.args}
}

// numbers runs a statement that selects seqs.
func (l *lister) numbers(ctx context.Context, f fragment) (seqs []int64, err error) {
	err = l.rows(ctx, f, func(rows *sql.Rows) error {
		var seq int64
		err := rows.Scan(&seq)
		seqs = append(seqs, seq)
		return err
	})
	return seqs, err
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
	if len(seqs) == 0 {
		return nil, nil
	}
	places := make(map[int64]int, len(seqs))
	args := make([]any, len(seqs))
	for i, seq := range seqs {
		places[seq], args[i] = i, seq
	}
	where := oneOf("seq", args)
	fields, records := herb.PlantFields(), make([][]byte, len(seqs))
	read := 0
	err := l.rows(ctx, fragment{"SELECT seq, id, name, tag FROM plants WHERE " + where.sql, where.args}, func(rows *sql.Rows) error {
		var seq, id int64
		var name, tag string
		if err := rows.Scan(&seq, &id, &name, &tag); err != nil {
			return err
		}
		record := herb.Record{fieldID: strconv.FormatInt(id, 10), fieldName: name, fieldTag: tag}
		records[places[seq]] = record.AppendJSON(nil, fields)
		read++
		return nil
	})
	if err == nil && read != len(seqs) {
		err = fmt.Errorf("%d of %d plants are missing from the database", len(seqs)-read, len(seqs))
	}
	return records, err
}

// row runs a query that returns one row.
func (l *lister) row(ctx context.Context, f fragment, dest ...any) error {
	found := false
	err := l.rows(ctx, f, func(rows *sql.Rows) error {
		found = true
		return rows.Scan(dest...)
	})
	if err == nil && !found {
		err = fmt.Errorf("listing %s: no row from %q", herb.PlantsRef, f.sql)
	}
	return err
}

// rows runs a query and calls each for every row.
func (l *lister) rows(ctx context.Context, f fragment, each func(*sql.Rows) error) error {
	rows, err := l.q.QueryContext(ctx, f.sql, f.args...)
	if err != nil {
		return fmt.Errorf("listing %s: %w", herb.PlantsRef, err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	for rows.Next() {
		if err := each(rows); err != nil {
			return fmt.Errorf("listing %s: %w", herb.PlantsRef, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("listing %s: %w", herb.PlantsRef, err)
	}
	return nil
}
