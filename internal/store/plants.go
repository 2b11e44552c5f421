package store

import (
	"context"
	"database/sql"
	"fmt"

	"herbarium/internal/herb"
)

// PlantPage is a range of the plants, read from one state of the database.
type PlantPage struct {
	Epoch  string // identifies the database
	Total  int    // number of all plants
	Plants []herb.NewPlant
	// First and Last are the batch numbers of the first and the last plant, which are random for each transaction that creates
	// plants. If a plant has the batch number that it had before, it and all plants before it are the same as before.
	First, Last int64
}

// ReadPlants returns up to limit plants that follow the first n in creation order. It takes one statement, so it needs no
// transaction.
func ReadPlants(ctx context.Context, q querier, n, limit int) (page PlantPage, err error) {
	// Plants are numbered without gaps, so a range of numbers is as good as a limit, and no database sorts all of the rest.
	rows, err := q.QueryContext(ctx, "SELECT t.epoch, t.plants, p.seq, p.id, p.name, p.tag, p.tag_given, p.batch "+
		"FROM totals t LEFT JOIN plants p ON p.seq > ? AND p.seq <= ? ORDER BY p.seq", n, n+limit)
	if err != nil {
		return page, err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports errors
	var seq, id, batch sql.Null[int64]
	var name, tag sql.Null[string]
	var given sql.Null[bool]
	for rows.Next() {
		if err := rows.Scan(&page.Epoch, &page.Total, &seq, &id, &name, &tag, &given, &batch); err != nil {
			return page, err
		}
		if !seq.Valid { // no plants in the range
			continue
		}
		if want := int64(n + len(page.Plants) + 1); seq.V != want {
			return page, fmt.Errorf("plant %d is missing, the next is %d; the database is damaged", want, seq.V)
		}
		p := herb.NewPlant{ID: id.V, Plant: herb.Plant{Name: name.V}}
		if given.V {
			p.Tag = new(tag.V)
		}
		if len(page.Plants) == 0 {
			page.First = batch.V
		}
		page.Plants, page.Last = append(page.Plants, p), batch.V
	}
	if err := rows.Err(); err != nil {
		return page, err
	}
	if page.Epoch == "" {
		return page, sql.ErrNoRows
	}
	if end := min(n+limit, page.Total); n+len(page.Plants) < end {
		return page, fmt.Errorf("plants %d to %d are missing; the database is damaged", n+len(page.Plants)+1, end)
	}
	return page, nil
}
