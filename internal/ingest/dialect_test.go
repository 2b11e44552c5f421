package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rowstest"
)

func TestDialect(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, in string
		dialect        dialect
		fields         []string
		want           table
	}{
		{"delimiter", "a.csv", "a:b,c\n1:2,3\n", dialect{Delimiter: ':'}, nil, table{{"a", "b,c"}, {"1", "2,3"}}},
		{"fixed width", "a.csv", "a,b c\n1,2 3\n", dialect{Widths: []int{4, 1}}, nil,
			table{{"a,b", "c"}, {"1,2", "3"}}},
		{"quote", "a.csv", "a|%b%\n%x|%%y%|\"z\"\n", dialect{Delimiter: '|', Quote: '%'}, nil,
			table{{"a", "b"}, {"x|%y", `"z"`}}},
		{"no quote", "a.tsv", "a\tb\n\"x\t'y\n", dialect{NoQuote: true}, nil, table{{"a", "b"}, {`"x`, "'y"}}},
		{"escape in quotes", "a.csv", "a,b\n\"x\\\"y\",\"\\\\\"\n", dialect{Escape: '\\', NoDoubleQuote: true}, nil,
			table{{"a", "b"}, {`x"y`, `\`}}},
		{"escape without quotes", "a.csv", "a,b\nx\\,y,1\\\n2\n3,4\\\\\n", dialect{Escape: '\\'}, nil,
			table{{"a", "b"}, {"x,y", "1\n2"}, {"3", `4\`}}},
		{"escape and doubled quotes", "a.csv", "a,b\n\"x\"\"y\\\"\",2\n", dialect{Escape: '\\'}, nil,
			table{{"a", "b"}, {`x"y"`, "2"}}},
		{"initial blanks", "a.csv", "a, b\n 1,   \"x, y\"\n2, \n", dialect{SkipInitialSpace: true}, nil,
			table{{"a", "b"}, {"1", "x, y"}, {"2", ""}}},
		{"comments", "a.csv", "# first, \"\na,b\n#\n1,2\n3,#4\n#end", dialect{Comment: "#"}, nil,
			table{{"a", "b"}, {"1", "2"}, {"3", "#4"}}},
		{"comment lines by number", "a.csv", "Title \"of\nit\na,b\nkg,m\n1,2\n", dialect{CommentRows: []int{1, 2, 4}},
			nil, table{{"a", "b"}, {"1", "2"}}},
		{"null", "a.csv", "a,b\nNULL,\"NULL\"\nnull,NULLS\n", dialect{Null: "NULL"}, nil,
			table{{"a", "b"}, {"", ""}, {"null", "NULLS"}}},
		{"null that looks like an escape", "a.tsv", "a\tb\n\\N\tx\\\ty\n", dialect{Null: `\N`, Escape: '\\'}, nil,
			table{{"a", "b"}, {"", "x\ty"}}},
		{"no header", "a.csv", "1,x\n2,y\n", dialect{Header: "none"}, nil,
			table{{"column_1", "column_2"}, {"1", "x"}, {"2", "y"}}},
		{"no header and fields", "a.csv", "1,x\n2,y\n", dialect{Header: "none"}, []string{"id", "name"},
			table{{"id", "name"}, {"1", "x"}, {"2", "y"}}},
		{"header further down", "a.csv", "A \"report,\n\n;;;;\na;b\n1,5;2\n", dialect{HeaderRows: []int{4}}, nil,
			table{{"a", "b"}, {"1,5", "2"}}},
		{"header of several lines", "a.csv", "size,,colour\n(cm),(in),\n-,-,-\nmin,max,\n1,2,red\n",
			dialect{HeaderRows: []int{1, 2, 4}, HeaderJoin: "_"}, nil,
			table{{"size_(cm)_min", "(in)_max", "colour"}, {"1", "2", "red"}}},
		{"property", "a.json", `{"meta":[{"x":1}],"result":{"items":[{"a":1}],"more":[{"y":2}]}}`,
			dialect{Table: "result.items"}, nil, table{{"a"}, {"1"}}},
		{"property with a dot in it", "a.json", `{"a.b":[{"c":1}]}`, dialect{Table: "a.b"}, nil, table{{"c"}, {"1"}}},
		{"keys", "a.json", `[[1,"x"],[2]]`, dialect{ItemKeys: []string{"id", "name"}}, nil,
			table{{"id", "name"}, {"1", "x"}, {"2", ""}}},
		{"property and keys", "a.json", `{"columns":["id"],"data":[[1],[2]]}`,
			dialect{Table: "data", ItemKeys: []string{"id"}}, nil, table{{"id"}, {"1"}, {"2"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src := ingest.Source{Path: writeFile(t, t.TempDir(), tt.file, tt.in), Dialect: tt.dialect}
			for _, name := range tt.fields {
				src.Fields = append(src.Fields, ingest.FieldSetting{Name: name})
			}
			if got, _, err := read(t, src); err != nil || !cmp.Equal(tt.want, got) {
				t.Errorf("error %v, rows (-want +got):\n%s", err, cmp.Diff(tt.want, got))
			}
		})
	}
}

func TestDialect_invalid(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, in string
		dialect        dialect
		want           string
	}{
		{"doubled quotes that are none", "a.csv", "a\n\"x\"\"y\"\n", dialect{NoDoubleQuote: true},
			"line 2: text follows the closing quote of a value"},
		{"header behind the end", "a.csv", "a\n1\n", dialect{HeaderRows: []int{5}},
			"no line 5, which names the columns; the file has 2"},
		{"header in a blank line", "a.csv", "a\n\nb\n", dialect{HeaderRows: []int{2}},
			"line 2, which names the columns, is blank"},
		{"longer than most records", "a.csv", "1,2\n3,4\n1,2,3\n", dialect{Header: "none"},
			"line 3: there are 3 values but the table has 2 columns"},
		{"records of different length", "a.csv", "1,\"t\",\"x, y\"\n1,h,a\n1,d,2,3,4\n", dialect{},
			"line 3: there are 5 values but the table has 3 columns"},
		{"no such property", "a.json", `{"data":[{"a":1}],"n":{"x":1}}`, dialect{Table: "rows"},
			`no table "rows"; members: data, n`},
		{"property that is no array", "a.json", `{"data":{"a":1}}`, dialect{Table: "data"},
			`line 1: no member is an object`},
		{"property of an array", "a.json", `[{"a":1}]`, dialect{Table: "data"},
			`line 1: the file begins with an array and has no table "data"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := writeFile(t, t.TempDir(), tt.file, tt.in)
			_, err := ingest.Inspect(t.Context(), ingest.Source{Path: path, Dialect: tt.dialect}, ingest.Options{})
			checkInvalid(t, err, path+": "+tt.want)
		})
	}
}

func TestEncoding(t *testing.T) {
	t.Parallel()
	tests := []struct{ encoding, in, want, err string }{
		{"utf-8", "é", "é", ""},
		{"UTF-8-SIG", "\xEF\xBB\xBFé", "é", ""},
		{"utf-8", "\xE9x", "", "line 2: byte 2 cannot be read as utf-8; save the file as UTF-8, or name its encoding"},
		{"utf-16", "\x00a\x00\n\x00\xE9", "é", ""},
		{"utf-16le", "a\x00\n\x00\xE9\x00", "é", ""},
		{"utf_16_be", "\x00a\x00\n\x00\xE9", "é", ""},
		{"cp1252", "\x80\xE9", "€é", ""},
		{"windows-1252", "\x81", "", "line 2: byte 2 cannot be read as windows-1252"},
		{"iso-8859-1", "\x80\xE9\x81", "€é\u0081", ""},
		{"latin1", "\xE9", "é", ""},
		{"iso-8859-15", "\xA4", "€", ""},
		{"us-ascii", "\xE9", "", "line 2: byte 2 cannot be read as us-ascii"},
		{"macintosh", "\x8E", "é", ""},
		{"cp850", "\x82", "é", ""},
		{"koi8-r", "\xC1", "а", ""},
		{"windows-1251", "\xE0\x98", "", "line 2: byte 3 cannot be read as windows-1251"},
		{"shift_jis", "\x90A\x95\xA8", "植物", ""},
		{"shift_jis", "\x90A\x95", "", "line 2: byte 4 cannot be read as shift_jis"},
		{"shift_jis", "ok\xFFx", "", "line 2: byte 4 cannot be read as shift_jis"},
		{"euc-jp", "\xBF\xA2", "植", ""},
		{"gb18030", "\xD6\xB2\x84\x31\xA4\x37", "植\uFFFD", ""},
		{"gb18030", "\xD6\xB2\xFF", "", "line 2: byte 4 cannot be read as gb18030"},
		{"big5", "\xB4\xD3", "植", ""},
		{"euc-kr", "\xB0\xA1", "가", ""},
		{"iso-2022-jp", "\x1B$B?\"\x1B(Bx", "植x", ""},
		{"iso-2022-jp", "x\xFF", "", "line 2: byte 3 cannot be read as iso-2022-jp"},
		{"klingon", "x", "", `unknown encoding "klingon"`},
		{"windows-1252", "\xEF\xBB\xBFé", "é", ""}, // the byte order mark takes precedence
	}
	for i, tt := range tests {
		t.Run(fmt.Sprint(i, tt.encoding), func(t *testing.T) {
			t.Parallel()
			in := tt.in
			if mark := "\xEF\xBB\xBF"; strings.HasPrefix(in, mark) {
				in = mark + "a\n" + strings.TrimPrefix(in, mark)
			} else if !strings.Contains(in, "\n") {
				in = "a\n" + in
			}
			path := writeFile(t, t.TempDir(), "a.csv", in)
			got, _, err := read(t, ingest.Source{Path: path, Dialect: dialect{Encoding: tt.encoding}})
			if tt.err != "" {
				checkInvalid(t, err, path+": "+tt.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(table{{"a"}, {tt.want}}, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := writeFile(t, dir, "1.csv", "a,b\n1,x\n")
	part := func(name, content string) string { return writeFile(t, dir, name, content) }
	section := func(s string) *io.SectionReader { return io.NewSectionReader(strings.NewReader(s), 0, int64(len(s))) }
	tests := []struct {
		name    string
		src     ingest.Source
		want    table
		wantErr string
	}{
		{name: "three files", src: ingest.Source{
			Path: first, MoreFiles: []string{part("2.csv", "a,b\r\n2,y"),
				part("3.csv.gz", rowstest.Gzip("a;b\n3,5;z\n"))}},
			want: table{{"a", "b"}, {"1", "x"}, {"2", "y"}, {"3,5", "z"}}},
		{name: "each in its encoding",
			src:  ingest.Source{Path: first, MoreFiles: []string{part("4.csv", "a,b\n2,\xE9\n")}},
			want: table{{"a", "b"}, {"1", "x"}, {"2", "é"}}},
		{name: "no header", src: ingest.Source{Path: part("5.csv", "1,2\n"), MoreFiles: []string{part("6.csv", "3\n")},
			Dialect: dialect{Header: "none"}},
			want: table{{"column_1", "column_2"}, {"1", "2"}, {"3", ""}}},
		{name: "footnotes of each", src: ingest.Source{Path: part("13.csv", "a,b\nx,1\ny,2\nNote: z\n"),
			MoreFiles: []string{part("14.csv", "a,b\nx,3\ny,4\nz,5\n\nSource: z\n")}},
			want: table{{"a", "b"}, {"x", "1"}, {"y", "2"}, {"x", "3"}, {"y", "4"}, {"z", "5"}}},
		{name: "JSON", src: ingest.Source{Path: part("7.json", `[{"a":1,"b":2}]`),
			MoreFiles: []string{part("8.json", `{"data":[{"b":3,"c":4}]}`)}},
			want: table{{"a", "b", "c"}, {"1", "2", ""}, {"", "3", "4"}}},
		{name: "other columns", src: ingest.Source{Path: first, MoreFiles: []string{part("9.csv", "a,c\n2,y\n")}},
			wantErr: filepath.Join(dir, "9.csv") + `: column 2 is "c", and "b" in ` + first +
				"; all parts must have the same columns in the same order"},
		{name: "fewer columns", src: ingest.Source{Path: first, MoreFiles: []string{part("10.csv", "a\n2\n")}},
			wantErr: filepath.Join(dir, "10.csv") + `: the file has 1 columns, and ` + first},
		{name: "another format", src: ingest.Source{Path: first, MoreFiles: []string{part("11.csv", `[{"a":1}]`)}},
			wantErr: filepath.Join(dir, "11.csv") + ": the file is json while " + first + " is csv"},
		{name: "a fault", src: ingest.Source{Path: first, MoreFiles: []string{part("12.csv", "a,b\n1,2,3\n")}},
			wantErr: filepath.Join(dir, "12.csv") + ": line 2: there are 3 values"},
		{name: "not there", src: ingest.Source{Path: first, MoreFiles: []string{filepath.Join(dir, "none.csv")}},
			wantErr: filepath.Join(dir, "none.csv") + ": no such file or directory"},
		{name: "inline objects",
			src:  ingest.Source{Path: "datapackage.json", Input: section(`[{"a":1.50},{"a":null}]`)},
			want: table{{"a"}, {"1.50"}, {""}}},
		{name: "inline arrays", src: ingest.Source{Path: "datapackage.json", Input: section(`[["a","b"],[1,"x"]]`)},
			want: table{{"a", "b"}, {"1", "x"}}},
		{name: "inline text", src: ingest.Source{Path: "datapackage.yaml", Format: "csv",
			Input: section("a;b\n1;\"x\ny\"")}, want: table{{"a", "b"}, {"1", "x\ny"}}},
		{name: "inline nonsense", src: ingest.Source{Path: "datapackage.json", Input: section(`[{"a":1},2]`)},
			wantErr: "datapackage.json: record 2, line 1: '2'"},
	}
	hashes := map[string]string{}
	for _, tt := range tests {
		got, _, err := read(t, tt.src)
		if tt.wantErr != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tt.wantErr) {
				t.Errorf("%s: got error  %v\nwant error %s", tt.name, err, tt.wantErr)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: rows (-want +got):\n%s", tt.name, diff)
		}
		found := inspect(t, tt.src)
		if lines := found.Source.Dialect.CommentRows; lines != nil {
			t.Errorf("%s: lines %v of the first file would be skipped in all", tt.name, lines)
		}
		hash := found.Dataset.SourceHash
		if hashes[hash] != "" {
			t.Errorf("%s has the hash of %q", tt.name, hashes[hash])
		}
		hashes[hash] = tt.name
	}
}

func TestCopyInput(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	left := func() int {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	ref := herb.Ref{Namespace: "a", Name: "b"}
	for in, want := range map[string]table{
		"a,b\n1,2\n":                 {{"a", "b"}, {"1", "2"}},
		rowstest.Gzip("{\"a\":1}\n"): {{"a"}, {"1"}},
	} {
		src, remove, err := ingest.CopyInput(t.Context(), iotest.OneByteReader(strings.NewReader(in)), ref,
			ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := read(t, src)
		if err != nil || !cmp.Equal(got, want) || src.Ref != ref {
			t.Errorf("got %v of %v and error %v", got, src.Ref, err)
		}
		if err := remove(); err != nil || left() > 0 {
			t.Errorf("%d files are left, error %v", left(), err)
		}
	}
	src, remove, err := ingest.CopyInput(t.Context(), strings.NewReader("a,b\n1,2,3\n"), ref, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.Inspect(t.Context(), src, ingest.Options{}); err == nil ||
		!strings.HasPrefix(err.Error(), "standard input: line 2: ") {
		t.Errorf("got error %v", err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, _, err := ingest.CopyInput(t.Context(), iotest.ErrReader(io.ErrClosedPipe), ref,
		ingest.Options{}); !errors.Is(err, io.ErrClosedPipe) || left() > 0 {
		t.Errorf("a reader that fails: %d files are left, error %v", left(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	silent, _ := io.Pipe()
	if _, _, err := ingest.CopyInput(ctx, silent, ref, ingest.Options{}); !errors.Is(err, context.Canceled) ||
		left() > 0 {
		t.Errorf("a reader that blocks: %v, and %d files are left", err, left())
	}
	if _, _, err := ingest.CopyInput(ctx, strings.NewReader("x"), ref, ingest.Options{}); !errors.Is(err,
		context.Canceled) || left() > 0 {
		t.Errorf("stopped: %d files are left, error %v", left(), err)
	}
}
