package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"herbarium/internal/must"
)

// TestPublish_explain prints the readings of a file and how to select them.
func TestPublish_explain(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "shop/x.csv", "name;price, total\nrose;1\nelm;2\n")
	const want = `
     SCORE  PART         READINGS, BEST FIRST, AND THE TERMS OF THEIR SCORES
      2.02  reading 1    semicolon, line 1 names the columns; used
      1.00    delimiter    2 of 2 records fit the header, times 1 delimiter
      0.67    header       names differ from the values below
      0.35    header       first complete row
      1.30  reading 2    semicolon, no line names the columns; to select it: --header none
      1.00    delimiter    2 of 2 records fit the header, times 1 delimiter
      0.30    header       no row names the columns
      0.00  reading 3    comma, line 1 names the columns; to select it: --delimiter ,
      0.00    delimiter    0 of 2 records fit the header, times 1 delimiter
`
	if out := e.must(t, "publish", file, "--check", "--explain"); !strings.HasSuffix(out, want) {
		t.Errorf("got\n%s\nwant it to end with\n%s", out, want)
	}
	var summary struct {
		Status   string
		Readings []struct {
			Settings struct{ Header, Delimiter string }
			Used     bool
			Score    float64
			Terms    []struct{ Part, Name string }
		}
	}
	must.NoError(t, json.Unmarshal([]byte(e.must(t, "publish", file, "--check", "--explain", "--json")), &summary))
	if r := summary.Readings; summary.Status != "checked" || len(r) != 3 || !r[0].Used || r[1].Settings.Header != "none" || r[2].Settings.Delimiter != "," || r[0].Terms[0].Part != "delimiter" {
		t.Errorf("JSON output %+v", summary)
	}
	e.prints(t, "the format declares its columns", "publish", write(t, "shop/y.json", `[{"a":1}]`), "--check", "--explain")
	// A file that cannot be read is explained, because another reading may be the remedy.
	code, out, _ := e.run(t, "publish", write(t, "shop/z.csv", "a,b\n1,2\n3,4,5\n6,7\n8,9\n"), "--check", "--explain")
	if code == 0 || !strings.Contains(out, "to select it: --header none") {
		t.Errorf("a damaged file: exit code %d\n%s", code, out)
	}
}

// TestPublish_explainEncoding prints words of a file in its encoding and in the best other one.
func TestPublish_explainEncoding(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "shop/dos.csv", "ort,fluss\nZ\x81rich,Limmat\nK\x94ln,Rhein\nM\x81nchen,Isar\n")
	const want = `
  ENCODING   WORDS OF THE FILE
  CP850      Zürich, Köln, München; used
  macintosh  ZÅrich, Kîln, MÅnchen; to select it: --encoding macintosh
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
	if s := summary.Encodings; len(s) != 2 || s[0].Encoding != "CP850" || !s[0].Used || len(s[1].Words) != 3 {
		t.Errorf("JSON output %+v", summary)
	}
}
