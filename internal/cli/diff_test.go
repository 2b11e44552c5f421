package cli_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// TestDatasetsDiff prints the changes between two versions of this machine and of a server.
func TestDatasetsDiff(t *testing.T) {
	t.Parallel()
	b := newBoth(t)
	folder := filepath.Dir(write(t, "datapackage.json",
		`{"name": "shop", "resources": [{"name": "prices", "path": "prices.csv", "schema": {"primaryKey": "id"}}]}`))
	long := strings.Repeat("ü", 200)
	publish := func(file string) {
		t.Helper()
		rewrite(t, filepath.Join(folder, "prices.csv"), file)
		if code, output := b.publish(t, file, filepath.Join(folder, "datapackage.json"),
			"--allow-breaking"); code != 0 {
			t.Fatal(output)
		}
	}
	publish("id,name,price,old\n1,Rose,3.00,\n2,\"Oak, \x1b[2J\",1,\n3," + long + "a,1,x\n4,Fern,2,\n5,Ash,2,\n")
	publish("id,name,price,new\n1,Rose,3.20,a: b\n2,,2,\n3," + long + "b,1,\n4,Fern,2,\n6,Elm,7,\n7,Fir,7,\n")
	versions := func(e environment, args ...string) (first, second string) {
		lines := strings.Split(e.must(t, append([]string{"datasets", "history", "shop/prices"}, args...)...), "\n")
		return strings.Fields(lines[2])[0], strings.Fields(lines[1])[0]
	}
	const want = `shop/prices: FIRST → SECOND
2 added, 1 removed, 3 changed, 1 unchanged
fields added: new
fields removed: old
~ id: 1 | price: 3.00 → 3.20, new: "" → "a: b"
~ id: 2 | name: "Oak, \x1b[2J" → "", price: 1 → 2
~ id: 3 | name: …üüüüüüüüüüa → …üüüüüüüüüüb
- id: 5, name: Ash, price: 2
+ id: 6, name: Elm, price: 7
+ id: 7, name: Fir, price: 7
`
	lines := strings.SplitAfter(want, "\n")
	for _, side := range []struct {
		name    string
		e       environment
		server  []string
		running *server
	}{{"local", b.here, nil, b.local}, {"remote", b.there, []string{"--to", b.server.url}, b.server}} {
		first, second := versions(side.e, side.server...)
		named := strings.NewReplacer("FIRST", first, "SECOND", second)
		for _, tt := range []struct {
			args, want string
		}{
			{first, want},
			{first + " " + second, want},
			{first + " --limit 0", want},
			{first + " --limit 6", want},
			{first + " --limit 2", strings.Join(lines[:6], "") + "4 more changes; --limit 0 prints all\n"},
			{first + " --query ?price=7&_op=added", lines[0] + "2 added, 0 removed, 0 changed, 0 unchanged\n" +
				lines[2] + lines[3] + lines[8] + lines[9]},
			{second + " " + first + " --query _fields=price&_op=changed",
				"shop/prices: SECOND → FIRST\n0 added, 0 removed, 2 changed, 2 unchanged\nfields added: old\nfields " +
					"removed: new\n" +
					"~ id: 1 | price: 3.20 → 3.00\n~ id: 2 | price: 2 → 1\n"},
			{second, "shop/prices: SECOND → SECOND\n0 added, 0 removed, 0 changed, 6 unchanged\n"},
		} {
			args := append(strings.Fields("datasets diff shop/prices "+tt.args), side.server...)
			if got := side.e.must(t, args...); got != named.Replace(tt.want) {
				t.Errorf("%s: %s prints\n%s, want\n%s", side.name, tt.args, got, named.Replace(tt.want))
			}
		}
		run := func(args string) (code int, out, errOut string) {
			return side.e.run(t, append(strings.Fields("datasets diff "+args), side.server...)...)
		}
		_, lines := side.running.get(t, "/api/v1/shop/prices/changes.ndjson?_from="+first)
		if _, out, _ := run("shop/prices --json " + first); out != lines {
			t.Errorf("%s: --json prints\n%s, want\n%s", side.name, out, lines)
		}
		keyless := maps.Clone(side.e)
		delete(keyless, "HERBARIUM_KEY")
		if got := keyless.must(t, append(strings.Fields("datasets diff shop/prices "+first),
			side.server...)...); got != named.Replace(want) {
			t.Errorf("%s: without a key, it prints\n%s", side.name, got)
		}
		for _, tt := range []struct {
			args, message string
			code          int
		}{
			{"shop/prices", "expected one namespace/dataset and one or two versions", 2},
			{"shop/prices " + first + " --limit -1", "--limit is -1", 2},
			{"shop/prices 20010101T133000Z-abcdefghij", first, 1}, // names those that are kept
			{"shop/prices " + first + " --query prise=1", `did you mean "price"?`, 2},
			{"shop/none " + first, "shop/none", 1},
		} {
			if code, _, errOut := run(tt.args); code != tt.code && !(side.name == "remote" && code == 1) ||
				!strings.Contains(errOut, tt.message) {
				t.Errorf("%s: %s ends with %d and %s", side.name, tt.args, code, errOut)
			}
		}
	}
}
