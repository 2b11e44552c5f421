package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver called pgx

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
)

// explainer passes queries on and notes how PostgreSQL plans them.
type explainer struct {
	db    *sql.DB
	plans []string
}

func (e *explainer) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	query = store.Numbered(query)
	rows, err := e.db.QueryContext(ctx, "EXPLAIN (COSTS OFF) "+query, args...)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		e.plans = append(e.plans, line)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return e.db.QueryContext(ctx, query, args...)
}

// ArrayElements is that of the store.
func (e *explainer) ArrayElements() string { return postgres.ArrayElements }

// Plants that are written without the store, because there must be many of them before an index pays: every third has no
// tag, and each name occurs twice.
var manyPlants = []string{
	`INSERT INTO plants SELECT n, n, 'Fern ' || n / 2, convert_to('fern ' || n / 2, 'UTF8'), tag, tag <> '',
		CASE WHEN tag <> '' THEN convert_to(tag, 'UTF8') END, 0
		FROM (SELECT n, (ARRAY['', 'shade', 'sun'])[1 + n % 3] AS tag FROM generate_series(1, 20000) n) p`,
	`INSERT INTO plant_words SELECT word, n, 1, pos, 2 FROM generate_series(1, 20000) n,
		LATERAL (VALUES ('f' || n % 50, 0), ('w' || n % 1000, 1)) w (word, pos)`,
	`INSERT INTO plant_tags SELECT tag, count(*) FROM plants GROUP BY tag`,
	`UPDATE totals SET plants = 20000, words = 40000`,
	`VACUUM ANALYZE`,
}

// TestPlans holds that the main shapes of listings neither sort nor read whole tables, and find the numbers of a page's
// plants in an index alone, however far behind it is.
func TestPlans(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	open(t, address, postgres.Options{})
	for _, statement := range manyPlants {
		run(t, address, statement)
	}
	db, err := sql.Open("pgx", address)
	check(t, err)
	defer func() { _ = db.Close() }()
	const only = "Index Only Scan "
	for _, tt := range []struct {
		raw  string
		uses string // a way to read, as the plan names it
	}{
		{"", "Index Scan using plants_pkey"},
		{"page=400", "Index Scan using plants_pkey"},
		{"sort=id&page=2", only + "using plants_id "},
		{"sort=id&page=399", only + "using plants_id "},
		{"sort=id&order=desc&page=2", only + "Backward using plants_id "},
		{"sort=name&page=2", only + "using plants_name_key "},
		{"sort=name&page=399", only + "using plants_name_key "},
		{"sort=name&page=790", only + "Backward using plants_name_key "},
		{"sort=name&order=desc&page=399", only + "Backward using plants_name_key "},
		{"sort=tag&page=260", only + "using plants_tag_key "},
		{"sort=tag&page=600", only + "using plants_tag "}, // of those without a tag
		{"sort=tag&order=desc&page=260", only + "Backward using plants_tag_key "},
		{"tag=shade", only + "using plants_tag "},
		{"tag=shade&page=130", only + "using plants_tag "},
		{"tag=&page=2", only + "using plants_tag "},
		{"tag=shade&sort=id&page=130", only + "using plants_tag_id "},
		{"tag=shade&sort=id&order=desc&page=130", only + "Backward using plants_tag_id "},
		{"tag=shade&sort=name&page=130", only + "using plants_tag_name "},
		{"tag=shade&sort=name&order=desc&page=130", only + "Backward using plants_tag_name "},
		{"tag=shade&sort=tag", only + "using plants_tag "},
		{"name=Fern+77", only + "using plants_name "},
		{"name=Fern+77&sort=name&order=desc", only + "using plants_name "},
		{"id=77", only + "using plants_id "},
		{"id=77&sort=tag", "using plants_id "},
		{"id=77&tag=sun&sort=name", "using plants_tag_id "},
		{"search=w77", only + "using plant_words_pkey "},
		{"search=w77+f27", only + "using plant_words_pkey "},
		{"search=%22f27+w77%22", "using plant_words_p"},
	} {
		t.Run(tt.raw, func(t *testing.T) {
			r, err := query.Parse(tt.raw, herb.PlantFields())
			check(t, err)
			e := &explainer{db: db}
			page, err := store.ListPlants(t.Context(), e, r)
			check(t, err)
			if len(page.Records) == 0 {
				t.Fatal("nothing was found")
			}
			plan := strings.Join(e.plans, "\n")
			if !strings.Contains(plan, tt.uses) {
				t.Errorf("%q is not in the plan:\n%s", tt.uses, plan)
			}
			few := strings.Contains(tt.raw, "search=") || strings.HasPrefix(tt.raw, "id=") // may be sorted
			if slices.ContainsFunc(e.plans, func(line string) bool {
				return strings.Contains(line, "Seq Scan on plant") && !strings.Contains(line, "plant_tags") || !few && strings.Contains(line, "Sort")
			}) {
				t.Errorf("it reads or sorts too much:\n%s", plan)
			}
		})
	}
}
