package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
	"herbarium/internal/ingest/source"
	"herbarium/internal/must"
)

const (
	titledFile    = "Sales of plants\n\nname;price;sold\nrose;1,50;3\nelm;2,25;4\noak;3,10;5\n\nSource: survey of the garden\n"
	ambiguousFile = "a,b;c\n1,2;3\n4,5;6\n"
)

// explain returns the readings of a file.
func explain(t *testing.T, src ingest.Source) []rows.ScoredReading {
	t.Helper()
	e, err := ingest.Explain(t.Context(), src, ingest.Options{Temp: t.TempDir()})
	must.NoError(t, err)
	return e.Readings
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, content, want string }{
		{"plain.csv", "name,price\nrose,2\nelm,3\n", `comma, line 1 names the columns (used)
  delimiter 1.00 delimiters in a record, on average; 2 of 2 records fit the header
  header 0.67 names differ from the values below
  header 0.35 first complete row
comma, no line names the columns (header none)
  delimiter 1.00 delimiters in a record, on average; 2 of 2 records fit the header
  header 0.30 no row names the columns
`},
		{"footnotes.csv", titledFile, `semicolon, line 3 names the columns, footnotes from line 8 (used)
  delimiter 2.00 delimiters in a record, on average; 3 of 3 records fit the header
  delimiter 18.00 the values have decimal commas
  header 1.00 names differ from the values below
  header 0.35 first complete row
  header -0.02 rows above are left out
  footnotes 4.00 a label such as Source:
  footnotes 1.00 a blank row above
semicolon, line 3 names the columns, footnotes are records (header 3)
  delimiter 2.00 delimiters in a record, on average; 3 of 3 records fit the header
  delimiter 18.00 the values have decimal commas
  header 1.00 names differ from the values below
  header 0.35 first complete row
  header -0.02 rows above are left out
  footnotes 2.00 last rows are records
semicolon, no line names the columns, records from line 3 (header none skip 2)
  delimiter 2.00 delimiters in a record, on average; 3 of 3 records fit the header
  delimiter 18.00 the values have decimal commas
  header 0.30 no row names the columns
`},
		{"ambiguous.csv", ambiguousFile, `comma, line 1 names the columns (used)
  delimiter 1.00 delimiters in a record, on average; 2 of 2 records fit the header
  header 0.83 names differ from the values below
  header 0.35 first complete row
comma, no line names the columns (header none)
  delimiter 1.00 delimiters in a record, on average; 2 of 2 records fit the header
  header 0.30 no row names the columns
semicolon, line 1 names the columns (delimiter ;)
  delimiter 1.00 delimiters in a record, on average; 2 of 2 records fit the header
`},
		{"ruled-out.csv", "id;name, place\n1;rose, Oslo, red\n2;elm, Rome, old, tall\n3;oak, Bern, new\n", `semicolon, line 1 names the columns (used)
  delimiter 1.00 delimiters in a record, on average; 3 of 3 records fit the header
  header 0.81 names differ from the values below
  header 0.35 first complete row
semicolon, no line names the columns (header none)
  delimiter 1.00 delimiters in a record, on average; 3 of 3 records fit the header
  header 0.30 no row names the columns
comma, line 1 names the columns (delimiter ,)
  delimiter 0.00 delimiters in a record, on average; 0 of 3 records fit the header
  delimiter -0.00 most records have another number of values than the header
`},
		{"arrays.json", `[["name","price"],["rose",2],["elm",3]]`, `array 1 names the columns (used)
  header 0.67 names differ from the values below
  header 0.35 first complete row
no array names the columns (itemKeys in a descriptor)
  header 0.30 no row names the columns
`},
		{"records.json", `[{"name":"rose"}]`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			readings := explain(t, ingest.Source{Path: writeFile(t, t.TempDir(), tt.name, tt.content)})
			if diff := cmp.Diff(tt.want, describeReadings(readings)); diff != "" {
				t.Errorf("readings (-want +got):\n%s", diff)
			}
		})
	}
}

// describeReadings writes readings with their terms.
func describeReadings(readings []rows.ScoredReading) string {
	var b strings.Builder
	for _, r := range readings {
		how := "used"
		if !r.Used {
			how = r.Note
			for _, s := range [][2]string{{"delimiter", r.Settings.Delimiter}, {"widths", r.Settings.Widths}, {"header", r.Settings.Header}, {"skip", r.Settings.Skip}} {
				if s[1] != "" {
					how = strings.TrimSpace(how + " " + s[0] + " " + s[1])
				}
			}
		}
		fmt.Fprintf(&b, "%s (%s)\n", r.Text, how)
		for _, term := range r.Terms {
			fmt.Fprintf(&b, "  %s %.2f %s\n", term.Decision, term.Value, term.Name)
		}
	}
	return b.String()
}

// The settings of a reading select it.
func TestExplain_settings(t *testing.T) {
	t.Parallel()
	for _, content := range []string{titledFile, ambiguousFile, "a,b\n1,2\n3,4\n", "x\ty,z\n1\t2,3\n"} {
		path := writeFile(t, t.TempDir(), "x.csv", content)
		for _, r := range explain(t, ingest.Source{Path: path}) {
			_, o, err := source.ParseReading(ingest.Formats(), r.Settings, "")
			must.NoError(t, err)
			got := explain(t, ingest.Source{Path: path, Dialect: o})[0]
			if want, _, _ := strings.Cut(r.Text, ", records from"); !strings.HasPrefix(want, got.Text) && got.Text != want {
				t.Errorf("%q: settings %+v give %q, want %q", content, r.Settings, got.Text, want)
			}
		}
	}
}

// The reading that is used has the highest score.
func TestExplain_used(t *testing.T) {
	t.Parallel()
	for _, c := range rowstest.UnusualFiles() {
		src := ingest.Source{Path: writeFile(t, t.TempDir(), c.File, c.Content)}
		e, _ := ingest.Explain(t.Context(), src, ingest.Options{Temp: t.TempDir()}) // some files are damaged
		readings := e.Readings
		for i, r := range readings {
			if r.Used != (i == 0) || r.Score > readings[0].Score || r.Score != rows.SumTerms(r.Terms) {
				t.Errorf("%s: reading %d of\n%s", c.Name, i+1, describeReadings(readings))
			}
		}
	}
}
