package discover_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// TestHostile reads malicious descriptors. Each is rejected with a short message, or read.
func TestHostile(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'm'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ","))
	}
	merges := "a: &a {x: 1}\n"
	for c := 'b'; c <= 'z'; c++ {
		merges += fmt.Sprintf("%c: &%c {<<: [%s]}\n", c, c,
			strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ","))
	}
	var members strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&members, "%d,", i)
	}
	var fields, header []string
	for i := range rows.MaxColumns {
		fields = append(fields, fmt.Sprintf(`{"name":"f%d","type":"integer"}`, i))
		header = append(header, fmt.Sprintf("F%d", i))
	}
	many := strings.TrimSuffix(strings.Repeat("7,", 100_000), ",")
	resource := func(s string) string { return `{"name":"n","resources":[{"path":"a.csv",` + s + `}]}` }
	for _, tt := range []struct{ name, file, content, want string }{
		{"aliases that multiply", "datapackage.yaml", bomb, "not YAML: line 1: document contains excessive aliasing"},
		{"merges that multiply", "datapackage.yaml", merges, "excessive aliasing"},
		{"an alias in itself", "datapackage.yaml", "a: &a [*a]\n",
			"not YAML: line 1: values are nested more than 1000 levels deep, or contain themselves"},
		{"a merge with itself", "datapackage.yaml", "a: &a\n  <<: *a\n", "not YAML"},
		{"a merge of nothing", "datapackage.yaml", "a: &a 5\nb: {<<: *a}\n", "not YAML"},
		{"a list as a name", "datapackage.yaml", "? [a]\n: 1\n", "not YAML: line 1: a key is not text"},
		{"members without end", "datapackage.yaml", "name: n\nresources: [{path: a.csv}]\nx: {" +
			members.String() + "}\n", ""},
		{"nested deeply in JSON", "datapackage.json", strings.Repeat(`{"a":`, 100_000),
			"not JSON: invalid character '{' exceeded max depth"},
		{"nested deeply in JSON, closed", "datapackage.json",
			resource(`"x":` + strings.Repeat(`[`, 9_000) + strings.Repeat(`]`, 9_000)), ""},
		{"nested deeply in YAML", "datapackage.yaml", "a: " + strings.Repeat("[", 100_000),
			"not YAML: exceeded max depth of 10000"},
		{"too long", "datapackage.json", `{"a":"` + strings.Repeat("x", 5<<20) + `"}`, "larger than 4 MiB"},
		{"too long in YAML", "datapackage.yaml", `a: ` + strings.Repeat("x", 2<<20), "larger than 1 MiB"},
		{"not UTF-8", "datapackage.yaml", "name: \xff\n", "not YAML"},
		{"NULs", "datapackage.json", "\x00\x00", "not JSON"},
		{"empty", "datapackage.json", "", "not JSON"},
		{"as many fields as columns can be", "datapackage.json",
			resource(`"schema":{"fields":[` + strings.Join(fields, ",") + `]}`), ""},
		{"one field more", "datapackage.json",
			resource(`"schema":{"fields":[` + strings.Join(append(fields, `{"name":"x"}`), ",") + `]}`),
			"resources[0].schema.fields lists 10001 values; at most 10000 are possible"},
		{"very many missing values", "datapackage.json", resource(`"schema":{"missingValues":[` + many + `]}`),
			"resources[0].schema.missingValues lists 100000 values; at most 1000 are possible"},
		{"very many true values", "datapackage.json",
			resource(`"schema":{"fields":[{"name":"F0","type":"boolean","trueValues":[` + many + `]}]}`),
			"trueValues lists 100000 values"},
		{"very many header rows", "datapackage.json", resource(`"dialect":{"headerRows":[` + many + `]}`),
			"headerRows lists 100000 values"},
		{"names that lead out", "datapackage.json",
			`{"name":"../../etc","resources":[{"name":"../passwd","path":"a.csv"}]}`, ""},
		{"very many resources of one file", "datapackage.json", `{"name":"n","resources":[` +
			strings.TrimSuffix(many1001(`{"name":"r%d","path":"a.csv"},`), ",") + `]}`,
			"more than 1000 resources with records of "},
		{"very many resources with inline records", "datapackage.json",
			`{"name":"n","resources":[` + strings.TrimSuffix(many1001(`{"name":"r%d","data":[{"a":1}]},`), ",") + `]}`,
			"more than 1000 resources with records of "},
		{"a name of dots", "datapackage.json", `{"name":"n","resources":[{"name":"..","path":"a.csv"}]}`,
			`cannot name a dataset after ".."`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := rowstest.Folder(t, "a.csv="+strings.Join(header, ",")+"\n1\n")
			rowstest.WriteFile(t, dir, tt.file, tt.content)
			set := find(t, dir)
			sources, err := set.Sources, set.Err()
			if tt.want == "" {
				if err != nil || len(sources) != 1 || !herb.ValidName(sources[0].Ref.Namespace) ||
					!herb.ValidName(sources[0].Ref.Name) {
					t.Fatalf("got %d sources and error %v", len(sources), err)
				}
				if got, err := listing(t, sources[0]); err != nil || len(got[0]) != rows.MaxColumns {
					t.Errorf("got %d rows, error %v", len(got), err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 1000 {
				t.Errorf("got error %.2000v\nwant one with %q", err, tt.want)
			}
		})
	}
}

// TestHostile_DeepFolders finds tables in folders that are nested as deeply as possible, and not
// below.
func TestHostile_DeepFolders(t *testing.T) {
	t.Parallel()
	deepest := strings.Repeat("d/", rows.MaxDepth)
	dir := rowstest.Folder(t, deepest+"a.csv", deepest+"e/a.csv")
	set := find(t, dir)
	if err := set.Err(); len(set.Sources) != 1 || err == nil ||
		!strings.Contains(err.Error(), "e: the folder is nested more than 100 levels deep") {
		t.Errorf("got %d sources and error %v", len(set.Sources), err)
	}
}

// many1001 formats the numbers up to 1000.
func many1001(format string) string {
	var b strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestHostile_WrongTypes puts a value of every type in the place of every value of a descriptor,
// and cuts it everywhere. Nothing may panic, and every rejection must have herb.CodeInvalid.
func TestHostile_WrongTypes(t *testing.T) {
	t.Parallel()
	const whole = `{"name":"n","title":"t","herbarium":{"access":"key"},"resources":[{"name":"r","path":["a.csv"],"title":"t","format":"csv",` +
		`"mediatype":"text/csv","encoding":"utf-8","compression":"gz","type":"table","profile":"p","dialect":{"csv":{"header":true},"delimiter":",",` +
		`"quoteChar":"'","escapeChar":"/","doubleQuote":true,"nullSequence":"x","headerRows":[1],"headerJoin":" ","commentRows":[2],"commentChar":"#",` +
		`"property":"p","itemKeys":["k"],"sheetName":"s","sheetNumber":1,"sheet":2,"table":"t"},"schema":{"fieldsMatch":"exact","primaryKey":["a"],` +
		`"missingValues":["NA",{"value":"-"}],"fields":[{"name":"a","type":"number","format":"default","decimalChar":".","groupChar":",","bareNumber":true,` +
		`"missingValues":["x"],"herbarium":{"from":"a","searchable":true,"filterable":true,"sortable":true,"weight":2}}]},"herbarium":{"access":"open",` +
		`"order":{"field":"a","order":"asc"},"include":{"a":["1"]},"expectations":[{"query":"","total":1,"first":{"a":"1"}}]}}]}`
	dir := rowstest.Folder(t, "a.csv")
	read := func(descriptor string) {
		t.Helper()
		rowstest.WriteFile(t, dir, "datapackage.json", descriptor)
		set := find(t, dir)
		for _, s := range set.Sources {
			if s.MoreFiles != nil || s.Input != nil { // the records are not tested here
				continue
			}
			s.Dialect = rows.Options{}
			if _, err := listing(t, s); err != nil {
				set.Errors = append(set.Errors, err)
			}
		}
		for _, err := range set.Errors {
			if c := herb.CodeOf(err); c != herb.CodeInvalid && c != herb.CodeNotFound || len(err.Error()) > 2000 {
				t.Errorf("%s\ngives %v", descriptor, err)
			}
		}
	}
	values := []string{`null`, `true`, `-1.5`, `1e999`, `""`, `"\u0000../x"`, `[]`, `{}`, `[[{}]]`, `{"a":{"b":[]}}`,
		`["",null,5]`}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range len(whole) {
		if c := whole[i]; c != ':' && c != '[' && c != ',' || i+1 == len(whole) {
			continue
		}
		end := valueEnd(whole, i+1)
		read(whole[:i+1] + values[r.IntN(len(values))] + whole[end:])
		read(whole[:i+1] + values[r.IntN(len(values))] + whole[end:])
		read(whole[:i])
	}
}

// valueEnd returns the end of the JSON value that begins at from.
func valueEnd(s string, from int) int {
	depth, quoted := 0, false
	for i := from; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case depth > 0 && (c == '}' || c == ']'):
			depth--
		case depth == 0 && strings.IndexByte(",]}", c) >= 0:
			return i
		}
	}
	return len(s)
}
