package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/store"
)

// explainer passes queries on and notes how SQLite plans them, and how many rows they skip at most.
type explainer struct {
	querier
	plans []string
	skip  int
}

func (e *explainer) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := e.Tx.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		e.plans = append(e.plans, detail)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if strings.HasSuffix(query, " OFFSET ?") {
		e.skip = max(e.skip, args[len(args)-1].(int))
	}
	return e.Tx.QueryContext(ctx, query, args...)
}

// TestPlans holds that the main shapes of listings neither sort nor read the whole table.
func TestPlans(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	var creations []store.Creation
	for id := range int64(200) {
		p := herb.NewPlant{ID: id, Plant: herb.Plant{Name: "Fern"}}
		if id%3 > 0 {
			p.Tag = new([]string{"", "shade", "sun"}[id%3])
		}
		creations = append(creations, store.Creation{Plant: p})
	}
	if _, err := s.CreatePlants(t.Context(), creations); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		raw  string
		uses string // an index, as the plan names it
	}{
		{"", "INTEGER PRIMARY KEY"},
		{"page=4", "INTEGER PRIMARY KEY"},
		{"sort=id&page=2", "INDEX sqlite_autoindex_plants_1 "},
		{"sort=id&order=desc&page=2", "INDEX sqlite_autoindex_plants_1 "},
		{"sort=name&page=2", "INDEX plants_name_key "},
		{"sort=name&page=7", "INDEX plants_name_key "}, // from the other end
		{"sort=name&order=desc&page=2", "INDEX plants_name_key "},
		{"sort=name&order=desc&page=7", "INDEX plants_name_key "},
		{"sort=tag", "INDEX plants_tag_key "},
		{"sort=tag&page=6", "INDEX plants_tag "}, // spans those without a tag
		{"sort=tag&order=desc&page=3", "INDEX plants_tag_key "},
		{"tag=shade", "INDEX plants_tag "},
		{"tag=shade&page=3", "INDEX plants_tag "},
		{"tag=&page=2", "INDEX plants_tag "},
		{"tag=shade&sort=id", "INDEX plants_tag_id "},
		{"tag=shade&sort=id&order=desc", "INDEX plants_tag_id "},
		{"tag=shade&sort=name", "INDEX plants_tag_name "},
		{"tag=shade&sort=name&order=desc&page=2", "INDEX plants_tag_name "},
		{"tag=shade&sort=tag", "INDEX plants_tag "},
		{"name=Fern", "INDEX plants_name "},
		{"name=Fern&sort=name&order=desc", "INDEX plants_name "},
		{"id=7", "INDEX sqlite_autoindex_plants_1 "},
		{"id=7&sort=tag", "INDEX sqlite_autoindex_plants_1 "},
		{"id=7&tag=shade&sort=name", "INDEX sqlite_autoindex_plants_1 "},
		{"search=fern", "PRIMARY KEY (word=?"},
		{"search=fern+shade", "PRIMARY KEY (word=?"},
		{"search=shade+fe*", "PRIMARY KEY (word>? AND word<?)"},
		{"search=shade+fe*&sort=name", "INDEX plant_words_place "},
		{"search=%22fern+sh%22*", "INDEX plant_words_place "},
	} {
		t.Run(tt.raw, func(t *testing.T) {
			plans := explain(t, s, tt.raw).plans
			if !slices.ContainsFunc(plans, func(p string) bool { return strings.Contains(p+" ", tt.uses) }) {
				t.Errorf("%s is not used:\n%s", tt.uses, strings.Join(plans, "\n"))
			}
			searching := strings.Contains(tt.raw, "search=")
			for _, p := range plans {
				scan := strings.HasPrefix(p, "SCAN plants") && !strings.Contains(p, "USING") || strings.HasPrefix(p, "SCAN w")
				if scan || !searching && strings.Contains(p, "TEMP B-TREE") {
					t.Errorf("%s:\n%s", p, strings.Join(plans, "\n"))
				}
			}
		})
	}
}

// TestListPlants_nearerEnd holds that no page is further away than the middle.
func TestListPlants_nearerEnd(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	creations := make([]store.Creation, 200)
	for i := range creations {
		p := herb.NewPlant{ID: int64(i), Plant: herb.Plant{Name: strconv.Itoa(i), Tag: new("tag " + strconv.Itoa(i))}}
		creations[i] = store.Creation{Plant: p}
	}
	if _, err := s.CreatePlants(t.Context(), creations); err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"sort=id", "sort=name", "sort=tag", "sort=name&order=desc", "id[gte]=0"} {
		for page, most := range map[int]int{1: 0, 5: 80, 6: 100, 10: 30, 12: 0} {
			if e := explain(t, s, fmt.Sprintf("%s&per_page=17&page=%d", raw, page)); e.skip > most {
				t.Errorf("page %d of %q skips %d rows; want at most %d", page, raw, e.skip, most)
			}
		}
	}
}

func explain(t *testing.T, s *Store, raw string) *explainer {
	t.Helper()
	r, err := query.Parse(raw, herb.PlantFields())
	if err != nil {
		t.Fatal(err)
	}
	var e *explainer
	if err := s.ReadPlants(t.Context(), false, func(ctx context.Context, q store.Querier) error {
		e = &explainer{querier: q.(querier)}
		_, err := store.ListPlants(ctx, e, r)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return e
}
