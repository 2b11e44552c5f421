package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"herbarium/internal/must"
)

// TestPublish_explain prints what was compared for a file and how to select it.
func TestPublish_explain(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "shop/x.csv", "name;price, total\nrose;1\nelm;2\n")
	const want = `
  DECISION      SCORE  CANDIDATES AND THEIR EVIDENCE
  delimiter      1.00  semicolon; used
                 1.00    delimiters in a record, on average; 2 of 2 records fit the header
  delimiter      0.00  comma; to select it: --delimiter ,
                 0.00    delimiters in a record, on average; 0 of 2 records fit the header
  header         1.02  line 1 names the columns; used
                 0.67    names differ from the values below
                 0.35    first complete row
  header         0.30  no line names the columns; to select it: --header none
                 0.30    no row names the columns
  header        -1.10  line 2 names the columns; to select it: --header 2
                -0.50    names differ from the values below
                -0.60    rows above are left out
`
	if out := e.must(t, "publish", file, "--check", "--explain"); !strings.HasSuffix(out, want) {
		t.Errorf("got\n%s\nwant it to end with\n%s", out, want)
	}
	var summary struct {
		Status     string
		Candidates []struct {
			Decision string
			Settings struct{ Header, Delimiter string }
			Used     bool
			Score    float64
			Evidence []struct{ Name string }
		}
	}
	must.NoError(t, json.Unmarshal([]byte(e.must(t, "publish", file, "--check", "--explain", "--json")), &summary))
	c := summary.Candidates
	if summary.Status != "checked" || len(c) != 5 || !c[0].Used || c[1].Settings.Delimiter != "," ||
		c[3].Settings.Header != "none" || c[0].Decision != "delimiter" {
		t.Errorf("JSON output %+v", summary)
	}
	e.prints(t, "the format declares its columns", "publish", write(t, "shop/y.json", `[{"a":1}]`), "--check",
		"--explain")
	// A file that cannot be read is explained, because another candidate may be the remedy.
	code, out, _ := e.run(t, "publish", write(t, "shop/z.csv", "a,b\n1,2\n3,4,5\n6,7\n8,9\n"), "--check", "--explain")
	if code == 0 || !strings.Contains(out, "to select it: --header none") {
		t.Errorf("a damaged file: exit code %d\n%s", code, out)
	}
}

// TestPublish_explainEncoding prints words of a file in its encoding and in the best other one.
func TestPublish_explainEncoding(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "shop/latin1.csv", "ort,fluss\nZ\xFCrich,Limmat\nK\xF6ln,Rhein\nM\xFCnchen,Isar\n")
	const want = `
  ENCODING      WORDS OF THE FILE
  Windows-1252  Zürich, Köln, München; used
  macintosh     Z¸rich, Kˆln, M¸nchen; to select it: --encoding macintosh
`
	if out := e.must(t, "publish", file, "--check", "--explain"); !strings.HasSuffix(out, want) {
		t.Errorf("got\n%s\nwant it to end with\n%s", out, want)
	}
	var summary struct {
		Encodings []struct {
			Encoding string
			Used     bool
			Words    []string
		}
	}
	must.NoError(t, json.Unmarshal([]byte(e.must(t, "publish", file, "--check", "--explain", "--json")), &summary))
	if s := summary.Encodings; len(s) != 2 || s[0].Encoding != "Windows-1252" || !s[0].Used || len(s[1].Words) != 3 {
		t.Errorf("JSON output %+v", summary)
	}
}
