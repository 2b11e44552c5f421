package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestPublish_readFlags overrides how text is read.
func TestPublish_readFlags(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, content string
		args          []string
		want          string
	}{
		{"no header", "north,south\neast,west\n", []string{"--header", "none"},
			"column_1,column_2\r\nnorth,south\r\neast,west\r\n"},
		{"header line", "x,y\na,b\n1,2\n", []string{"--header", "2"}, "a,b\r\n1,2\r\n"},
		{"comment", "a,b\n! c,d\n1,2\n", []string{"--comment", "!"}, "a,b\r\n1,2\r\n"},
		{"skip", "p,q\nr,s\na,b\n1,2\n", []string{"--skip", "2"}, "a,b\r\n1,2\r\n"},
		{"delimiter", "a:b,c\n1:2,3\n", []string{"--delimiter", ":"}, "a,\"b,c\"\r\n1,\"2,3\"\r\n"},
		{"widths", "id  name\n0001Rose\n0002Moss, wet\n", []string{"--widths", "4,5"},
			"id,name\r\n0001,Rose\r\n0002,\"Moss, wet\"\r\n"},
		{"tab", "a\tb\n1\t2\n", []string{"--delimiter", "tab"}, "a,b\r\n1,2\r\n"},
		{"encoding", "a,b\n\xE1,2\n", []string{"--encoding", "iso-8859-2"}, "a,b\r\ná,2\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t)
			file := write(t, "shop/x.csv", tt.content)
			e.must(t, append([]string{"publish", file}, tt.args...)...)
			if out := e.must(t, "export", "shop/x"); out != tt.want {
				t.Errorf("got %q, want %q", out, tt.want)
			}
			e.prints(t, "unchanged", append([]string{"publish", file, "--check"}, tt.args...)...)
		})
	}
	e := newEnvironment(t)
	file := write(t, "shop/y.csv", "a b\n1 2\n")
	for widths, want := range map[string]string{
		"10,x": `--widths is "10,x"; "x", the width of column 2, is not a number`, "2,": `"", the width of column 2`,
		"2,0":     "width 0 of column 2 is not between 1 and 1000000 characters",
		"9999999": "width 9999999 of column 1",
	} {
		e.fails(t, 2, want, "publish", file, "--widths", widths)
	}
	e.fails(t, 2, "--widths and --delimiter exclude each other", "publish", file, "--widths", "2,1", "--delimiter", ";")
	s := e.serve(t, "--header", "none", write(t, "shop/x.csv", "north,south\n"))
	if _, body := s.get(t, "/api/v1/shop/x/data"); !strings.Contains(body, `"column_1":"north"`) {
		t.Errorf("serve lists %s", body)
	}
}

// TestPublish_summary counts the datasets and lists the files that are skipped.
func TestPublish_summary(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	folder := filepath.Dir(write(t, "shop/a.csv", "a\n1\n"))
	rewrite(t, filepath.Join(folder, "b.json"), `{"x":[{"a":1}],"y":[{"a":1}]}`)
	rewrite(t, filepath.Join(folder, "readme.md"), "# Shop\n")
	rewrite(t, filepath.Join(folder, "notes.txt"), "Prices are in euros.\n")
	run := func(want string) {
		t.Helper()
		code, _, errOut := e.run(t, "publish", folder)
		for _, part := range []string{want, "readme.md: ", "notes.txt: "} {
			if code != 0 || !strings.Contains(errOut, part) {
				t.Errorf("exit code %d, %q is not in\n%s", code, part, errOut)
			}
		}
	}
	run("3 datasets published, 0 unchanged, 0 failed; 2 files skipped")
	run("0 datasets published, 3 unchanged, 0 failed; 2 files skipped")
}

// TestServe_nameClash reports two files of the same name in the log and in the list of datasets.
func TestServe_nameClash(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	folder := filepath.Dir(write(t, "shop/a.csv", "a\n1\n"))
	rewrite(t, filepath.Join(folder, "a.json"), `[{"a":1}]`)
	rewrite(t, filepath.Join(folder, "b.csv"), "a\n1\n")
	rewrite(t, filepath.Join(folder, "readme.md"), "# Shop\n")
	s := e.serve(t, folder)
	for _, part := range []string{"would both be published as shop/a", "readme.md",
		`"published":1,"unchanged":0,"failed":1,"skipped":1`} {
		if !strings.Contains(s.log.String(), part) {
			t.Errorf("%q is not in the log:\n%s", part, s.log)
		}
	}
	s.stop()
	if _, _, errOut := e.run(t, "datasets"); strings.Count(errOut, "would both be published as shop/a") != 1 {
		t.Errorf("datasets says %q", errOut)
	}
}
