package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
	"herbarium/internal/must"
)

const (
	titledFile = "Sales of plants\n\nname;price;sold\nrose;1,50;3\nelm;2,25;4\noak;3,10;5\n\nSource: survey of " +
		"the garden\n"
	ambiguousFile = "a,b;c\n1,2;3\n4,5;6\n"
)

// explain returns the candidates for the decisions about a file.
func explain(t *testing.T, src ingest.Source) []rows.Candidate {
	t.Helper()
	e, err := ingest.Explain(t.Context(), src, ingest.Options{Temp: t.TempDir()})
	must.NoError(t, err)
	return e.Candidates
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, content, want string }{
		{"plain.csv", "name,price\nrose,2\nelm,3\n", `delimiter: comma (used)
  1.00 delimiters in a record, on average; 2 of 2 records fit the header
header: line 1 names the columns (used)
  0.67 names differ from the values below
  0.35 first complete row
header: no line names the columns (header none)
  0.30 no row names the columns
header: line 2 names the columns (header 2)
  -0.50 names differ from the values below
  -0.60 rows above are left out
`},
		{"footnotes.csv", titledFile, `delimiter: semicolon (used)
  2.00 delimiters in a record, on average; 3 of 3 records fit the header
  18.00 the values have decimal commas
header: line 3 names the columns (used)
  1.00 names differ from the values below
  0.35 first complete row
  -0.02 rows above are left out
header: no line names the columns, records from line 3 (header none skip 2)
  0.30 no row names the columns
header: line 1 names the columns (header 1)
  -0.13 names differ from the values below
  0.35 first complete row
  -0.30 a blank row follows and names are missing
  -0.30 first records do not fit the columns
footnotes: footnotes from line 8 (used)
  4.00 a label such as Source:
  1.00 a blank row above
footnotes: they are records (header 3)
`},
		{"ambiguous.csv", ambiguousFile, `delimiter: comma (used)
  1.00 delimiters in a record, on average; 2 of 2 records fit the header
delimiter: semicolon (delimiter ;)
  1.00 delimiters in a record, on average; 2 of 2 records fit the header
header: line 1 names the columns (used)
  0.83 names differ from the values below
  0.35 first complete row
header: no line names the columns (header none)
  0.30 no row names the columns
header: line 2 names the columns (header 2)
  -0.65 names differ from the values below
  -0.60 rows above are left out
`},
		{"ruled-out.csv", "id;name, place\n1;rose, Oslo, red\n2;elm, Rome, old, tall\n3;oak, Bern, new\n",
			`delimiter: semicolon (used)
  1.00 delimiters in a record, on average; 3 of 3 records fit the header
delimiter: comma (delimiter ,)
  0.00 delimiters in a record, on average; 0 of 3 records fit the header
  0.00 most records have another number of values than the header
header: line 1 names the columns (used)
  0.81 names differ from the values below
  0.35 first complete row
header: no line names the columns (header none)
  0.30 no row names the columns
header: line 2 names the columns (header 2)
  -0.72 names differ from the values below
  -0.60 rows above are left out
`},
		{"arrays.json", `[["name","price"],["rose",2],["elm",3]]`, `header: array 1 names the columns (used)
  0.67 names differ from the values below
  0.35 first complete row
header: no array names the columns (itemKeys in a descriptor)
  0.30 no row names the columns
header: array 2 names the columns (itemKeys in a descriptor)
  -0.50 names differ from the values below
  -0.60 rows above are left out
`},
		{"records.json", `[{"name":"rose"}]`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			candidates := explain(t, ingest.Source{Path: writeFile(t, t.TempDir(), tt.name, tt.content)})
			if diff := cmp.Diff(tt.want, describeCandidates(candidates)); diff != "" {
				t.Errorf("candidates (-want +got):\n%s", diff)
			}
		})
	}
}

// describeCandidates writes candidates with their evidence.
func describeCandidates(candidates []rows.Candidate) string {
	var b strings.Builder
	for _, c := range candidates {
		how := "used"
		if !c.Used {
			how = c.Note
			for _, s := range [][2]string{{"delimiter", c.Settings.Delimiter}, {"header", c.Settings.Header},
				{"skip", c.Settings.Skip}} {
				if s[1] != "" {
					how = strings.TrimSpace(how + " " + s[0] + " " + s[1])
				}
			}
		}
		fmt.Fprintf(&b, "%s: %s (%s)\n", c.Decision, c.Text, how)
		for _, term := range c.Evidence {
			fmt.Fprintf(&b, "  %.2f %s\n", term.Value, term.Name)
		}
	}
	return b.String()
}

// The settings of a candidate select it.
func TestExplain_settings(t *testing.T) {
	t.Parallel()
	for _, content := range []string{titledFile, ambiguousFile, "a,b\n1,2\n3,4\n", "x\ty,z\n1\t2,3\n"} {
		path := writeFile(t, t.TempDir(), "x.csv", content)
		for _, c := range explain(t, ingest.Source{Path: path}) {
			given, err := descriptor.ParseReading(ingest.Formats(), c.Settings, "")
			must.NoError(t, err)
			if c.Decision == rows.DecisionFootnotes || c.Note != "" {
				continue
			}
			isSame := func(other rows.Candidate) bool {
				want, _, _ := strings.Cut(c.Text, ", records from")
				return other.Used && other.Decision == c.Decision && strings.HasPrefix(other.Text, want)
			}
			if got := explain(t, given.Override(ingest.Source{Path: path})); !slices.ContainsFunc(got, isSame) {
				t.Errorf("%q: settings %+v give\n%swant %q", content, c.Settings, describeCandidates(got), c.Text)
			}
		}
	}
}

// Of each decision, the candidate that is used is first and has the highest score.
func TestExplain_used(t *testing.T) {
	t.Parallel()
	for _, c := range rowstest.UnusualFiles() {
		src := ingest.Source{Path: writeFile(t, t.TempDir(), c.File, c.Content)}
		e, _ := ingest.Explain(t.Context(), src, ingest.Options{Temp: t.TempDir()}) // some files are damaged
		used := map[rows.Decision]rows.Candidate{}
		for i, r := range e.Candidates {
			if first, isKnown := used[r.Decision]; r.Used == isKnown || isKnown && r.Score > first.Score ||
				r.Score != rows.SumTerms(r.Evidence) {
				t.Errorf("%s: candidate %d of\n%s", c.Name, i+1, describeCandidates(e.Candidates))
			}
			if r.Used {
				used[r.Decision] = r
			}
		}
	}
}
