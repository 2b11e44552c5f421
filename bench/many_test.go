//go:build linux

package bench_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
	"herbarium/internal/store"
	_ "herbarium/internal/store/sqlite" // registers the driver
)

// datasets is the number of datasets of BenchmarkMany.
var datasets = flag.Int("datasets", 10_000, "`number` of datasets of BenchmarkMany")

// installation is a data folder with many datasets.
type installation struct {
	program string
	folder  string // for temporary files
	data    string
}

// BenchmarkMany measures the processor time and the memory of a server process. Each dataset has
// 100 fields and 20 records; all are copies of one, under different names, titles and keywords.
func BenchmarkMany(b *testing.B) {
	folder := b.TempDir()
	program, err := programtest.Install(b.Context(), folder)
	must.NoError(b, err)
	i := &installation{program, folder, filepath.Join(folder, "data")}
	must.NoError(b, i.createDatasets(b.Context()))

	var server *programtest.Server
	b.Run("start", func(b *testing.B) {
		var used time.Duration
		for b.Loop() {
			if server != nil {
				must.NoError(b, server.Stop())
			}
			server = i.start(b)
			must.NoError(b, get(b.Context(), server, "/readyz"))
			used += cpuTime(b, server)
		}
		b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms/op")
		reportMemory(b, server)
	})
	b.Cleanup(func() { must.NoError(b, server.Stop()) })
	for _, page := range []struct{ name, target string }{
		{"catalogue", "/"},
		{"catalogue-last", "/?sort=updated&page=200"},
		{"catalogue-search", "/api/v1?search=dataset+47*"},
		{"catalogue-search-field", "/api/v1?search=column_09"},
		{"keyword", "/?keyword=topic+47"},
		{"keyword-of-all", "/?keyword=Open+data"},
		{"api", "/api/v1"},
		{"dcat", "/catalog.jsonld"},
		{"openapi", "/openapi.json"},
		{"unknown", "/api/v1/many/dataset-0123x/data"},
		{"search-none", "/api/v1/search?search=unheardof"},
		{"search-one", "/api/v1/search?search=unique4711"},
		{"search-all", "/api/v1/search?search=common"},
		{"page-search", "/?search=unheardof"},
	} {
		b.Run(page.name, func(b *testing.B) {
			measure(b, server, func() error { return get(b.Context(), server, page.target) })
			reportMemory(b, server)
		})
	}
	b.Run("publish", func(b *testing.B) {
		n := 0
		measure(b, server, func() error {
			n++
			name := fmt.Sprintf("new-%d", n)
			return errors.Join(i.publish(b.Context(), name, n), get(b.Context(), server, "/api/v1/many/"+name+"/data"))
		})
		reportMemory(b, server)
	})
}

// measure reports the processor time of a server for an operation, and that of the first one.
func measure(b *testing.B, server *programtest.Server, do func() error) {
	var first, used time.Duration
	for b.Loop() {
		before := cpuTime(b, server)
		must.NoError(b, do())
		took := cpuTime(b, server) - before
		used += took
		if first == 0 {
			first = took
		}
	}
	b.ReportMetric(float64(first.Microseconds())/1000, "first-cpu-ms")
	b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

func reportMemory(b *testing.B, server *programtest.Server) {
	m, err := programtest.MemoryOf(server.PID())
	must.NoError(b, err)
	b.ReportMetric(float64(m.RSS)/(1<<20), "RSS-MiB")
	b.ReportMetric(float64(m.Anon)/(1<<20), "anon-MiB")
}

// cpuTime returns the processor time of a server. Unlike programtest.CPU, it is exact enough for
// single requests.
func cpuTime(b *testing.B, server *programtest.Server) (total time.Duration) {
	threads, err := procfs.AllThreads(server.PID())
	must.NoError(b, err)
	for _, t := range threads {
		s, err := t.Schedstat()
		must.NoError(b, err)
		total += time.Duration(s.RunningNanoseconds)
	}
	return total
}

func (i *installation) start(b *testing.B) *programtest.Server {
	s, err := programtest.Start(b.Context(),
		programtest.Options{Program: i.program, Settings: []string{"HERBARIUM_DATA=" + i.data},
			Args: []string{"--log-level", "info"}})
	must.NoError(b, err)
	return s
}

// get fails if a response has an unexpected status. An unknown dataset is expected to be not found.
func get(ctx context.Context, s *programtest.Server, target string) error {
	resp, err := programtest.Send(ctx, http.DefaultClient, http.MethodGet, s.URL+target, "")
	if err == nil && (resp.Status != http.StatusOK && resp.Status != http.StatusNotFound || resp.Body == "") {
		err = fmt.Errorf("%s: %d", target, resp.Status)
	}
	return err
}

// publish publishes a dataset of 100 fields with the program.
func (i *installation) publish(ctx context.Context, name string, seed int) error {
	source := filepath.Join(i.folder, "source")
	if err := os.MkdirAll(source, 0o700); err != nil {
		return err
	}
	const fields, records = 100, 20
	var table strings.Builder
	for f := range fields {
		fmt.Fprintf(&table, "column_%03d%c", f, separator(f, fields))
	}
	for r := range records {
		for f := range fields {
			switch n := seed + r*fields + f; f % 3 {
			case 0:
				fmt.Fprintf(&table, "common word%d unique%d", n%1000, n)
			case 1:
				fmt.Fprint(&table, n*37%100_000)
			case 2:
				fmt.Fprintf(&table, "2024-%02d-%02d", n%12+1, n%28+1)
			}
			table.WriteByte(byte(separator(f, fields)))
		}
	}
	descriptor := fmt.Sprintf(
		`{"name": "many", "keywords": ["Open data", "topic 0"], "resources": [{"name": %q, "path": "table.csv"}]}`,
		name)
	for file, content := range map[string]string{"table.csv": table.String(), "datapackage.json": descriptor} {
		if err := os.WriteFile(filepath.Join(source, file), []byte(content), 0o600); err != nil {
			return err
		}
	}
	out, code, err := programtest.Run(ctx, i.program, []string{"HERBARIUM_DATA=" + i.data}, "publish", source)
	if err == nil && code != 0 {
		err = fmt.Errorf("publish: %s", out)
	}
	return err
}

func separator(field, fields int) rune {
	if field+1 < fields {
		return ','
	}
	return '\n'
}

// createDatasets publishes one dataset and copies its rows in the database and links to its file.
func (i *installation) createDatasets(ctx context.Context) error {
	if err := i.publish(ctx, "first", 4000); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", filepath.Join(i.data, store.DatabaseFile))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // temporary tables belong to a connection
	if _, err := db.ExecContext(ctx,
		"CREATE TEMP TABLE copies AS WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers "+
			"WHERE n < ?) "+
			"SELECT n, printf('dataset-%05d', n) AS name, printf('20240229T133000Z-%010d', n) AS version FROM numbers",
		*datasets-1); err != nil {
		return err
	}
	for _, statement := range []string{
		"UPDATE catalogue SET generation = generation + 1",
		"INSERT INTO datasets (namespace, name, live) SELECT 'many', name, version FROM copies",
		"INSERT INTO versions (namespace, name, version, title, description, access, fields, records, published, " +
			"source, details, added) " +
			"SELECT 'many', c.name, c.version, 'Dataset ' || n, description, access, fields, records, published, " +
			"source, replace(details, 'topic 0', 'topic ' || n % 100), 2 " +
			"FROM versions AS v, copies AS c WHERE v.name = 'first'",
		"INSERT INTO version_words (namespace, name, version, words) " +
			"SELECT 'many', c.name, c.version, replace(words, 'topic 0', 'topic ' || n % 100) || " +
			"printf('dataset%s%05d%s%d%s', char(10), n, char(10), n % 100, char(10)) " +
			"FROM version_words AS v, copies AS c WHERE v.name = 'first'",
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(i.data, store.VersionsDir, "*.segment"))
	if err != nil {
		return err
	}
	for n := range *datasets - 1 {
		if err := os.Link(files[0],
			filepath.Join(i.data, store.VersionsDir, fmt.Sprintf("20240229T133000Z-%010d.segment", n+1))); err != nil {
			return err
		}
	}
	return nil
}
