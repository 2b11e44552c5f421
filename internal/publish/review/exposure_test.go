package review_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/must"
	"herbarium/internal/publish"
	"herbarium/internal/versions"
)

// attempt is a publish in one of the ways that there are.
type attempt struct {
	file       string
	descriptor string // of the resource; empty: none comes with the file
	versions.PublishOptions
}

// ways returns all ways to publish a file. Each returns the error of the publish.
func (n *node) ways() map[string]func(a attempt) error {
	live := func() string {
		version, err := n.library.LiveVersion(n.t.Context(), prices)
		must.NoError(n.t, err)
		return version.Version
	}
	source := func(a attempt) ingest.Source {
		dir := filepath.Join(n.t.TempDir(), "shop")
		must.NoError(n.t, os.Mkdir(dir, 0o700))
		path := filepath.Join(dir, "prices.csv")
		must.NoError(n.t, os.WriteFile(path, []byte(a.file), 0o600))
		if a.descriptor != "" {
			path = filepath.Join(dir, "datapackage.json")
			must.NoError(n.t, os.WriteFile(path, []byte(a.descriptor), 0o600))
		}
		s, err := discover.New(discover.Options{Formats: ingest.Formats()}).As(n.t.Context(), path, prices)
		must.NoError(n.t, err)
		return s
	}
	publisher := &publish.Publisher{Versions: n.library.Service, Store: n.store, Data: n.data,
		Log: slog.New(slog.DiscardHandler)}
	result := func(r publish.Publish) error {
		if r.Code == "" {
			return nil
		}
		return &herb.Error{Code: r.Code, Message: r.Result.Error, Consents: r.Result.Requires}
	}
	request := func(a attempt, file, descriptor string, mode publish.Mode) error {
		return result(n.put(prices, "prices.csv", file, descriptor, func(r *publish.Request) {
			r.Consents, r.Force, r.Mode = a.Consents, a.Force, mode
		}))
	}
	return map[string]func(a attempt) error{
		"command": func(a attempt) error {
			_, err := publisher.Publish(n.t.Context(), source(a), publish.Options{PublishOptions: a.PublishOptions})
			return err
		},
		"watch": func(a attempt) error { // it has no consents
			if slices.Contains(a.Consents, herb.ConsentExposure) {
				return n.ways()["command"](a)
			}
			_, err := publisher.PublishSource(n.t.Context(), source(a), publish.WayWatch)
			return err
		},
		"PUT": func(a attempt) error { return request(a, a.file, a.descriptor, publish.Replace) },
		"PATCH": func(a attempt) error { // then the descriptor alone
			if live() != "" {
				withoutBreaking := slices.DeleteFunc(slices.Clone(a.Consents),
					func(c herb.Consent) bool { return c == herb.ConsentBreaking })
				if err := request(attempt{PublishOptions: versions.PublishOptions{Consents: withoutBreaking}}, a.file,
					"", publish.Append); err != nil {
					return err
				}
			}
			if a.descriptor == "" {
				return nil
			}
			return request(a, a.file, a.descriptor, publish.Replace)
		},
		"review": func(a attempt) error {
			if a.descriptor != "" { // reviews edit the settings of the live version instead
				return request(a, a.file, a.descriptor, publish.Replace)
			}
			id := n.create("prices.csv", a.file)
			r := n.review(id)
			if r.Error != "" {
				return herb.Errorf(herb.CodeUnreadable, "%s", r.Error)
			}
			publishID, err := n.reviews.Publish(n.t.Context(), id, versions.PublishOptions{Consents: a.Consents},
				r.Live, actor)
			must.NoError(n.t, err)
			record, err := n.reviews.State(n.t.Context(), publishID, longWait)
			must.NoError(n.t, err)
			return result(record)
		},
	}
}

// public returns everything that readers without a key can read of the live version.
func (n *node) public() string {
	d, err := n.library.Describe(n.t.Context(), prices)
	must.NoError(n.t, err)
	if d.Access == herb.AccessKey {
		return ""
	}
	text := n.listing(prices)
	if d.Settings != nil && d.Settings.Public {
		text += "source"
	}
	return text
}

// descriptor returns a descriptor of prices.csv with members of its resource.
func descriptor(members string) string {
	return `{"name":"shop","resources":[{"name":"prices","path":"prices.csv",` + members + `}]}`
}

const (
	hiding = `"herbarium":{"include":{"status":["public"]}},"schema":{"missingValues":["","canary-value"],"fields":[{"name":"name"},{"name":"district"},{"name":"status"}]}`
	people = "name,phone,district,status\nAda,canary-1,North,public\nBob,canary-2,canary-value,public\nCy,canary-3,South,public\nEve,canary-4,canary-row,draft\n"
	// more has the same columns and further rows.
	more = people + "Flo,canary-5,East,public\nGus,canary-6,canary-row,draft\n"
)

// TestExposure_everyWay publishes over a version that hides a column, rows and values, in every
// way: what was hidden stays hidden without a descriptor, and no descriptor exposes it without
// consent, which neither another consent nor Force implies.
func TestExposure_everyWay(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, first, file, descriptor string
		accepted                      bool // nothing is exposed
	}{
		{"no descriptor", hiding, more, "", true},
		{"no descriptor, columns in another order", hiding, "phone,name,status,district\ncanary-7,Hal,public,West\n" +
			"canary-8,Ida,draft,canary-row\ncanary-9,Jo,public,canary-value\n", "", true},
		{"no descriptor, protected", `"herbarium":{"access":"key"}`, more, "", true},
		{"hidden column", hiding, more,
			strings.Replace(hiding, `{"name":"name"}`, `{"name":"name"},{"name":"phone"}`, 1), false},
		{"hidden column in another spelling", hiding, strings.Replace(more, "phone", "Phone ", 1),
			strings.Replace(hiding, `{"name":"name"}`, `{"name":"name"},{"name":"Phone "}`, 1), false},
		{"hidden column under another name", hiding, more,
			strings.Replace(hiding, `{"name":"name"}`, `{"name":"name"},{"name":"line","herbarium":{"from":"phone"}}`,
				1), false},
		{"field from a hidden column", hiding, more,
			strings.Replace(hiding, `{"name":"district"}`, `{"name":"district","herbarium":{"from":"phone"}}`, 1),
			false},
		{"hidden column renamed in the file", hiding, strings.Replace(more, "phone", "contact", 1),
			strings.Replace(hiding, `{"name":"name"}`, `{"name":"name"},{"name":"contact"}`, 1), false},
		{"hidden column copied in the file", hiding,
			"name,phone,district,status,copy\nAda,canary-1,North,public,canary-1\nBob,canary-2,x,public,canary-2\nCy,canary-3,y,public,canary-3\n",
			strings.Replace(hiding, `{"name":"name"}`, `{"name":"name"},{"name":"copy"}`, 1), false},
		{"names of columns exchanged", hiding, strings.Replace(more, "phone,district", "district,phone", 1), "", false},
		{"no schema", hiding, more, `"herbarium":{"include":{"status":["public"]}}`, false},
		{"field filled from a new column", hiding, strings.ReplaceAll(strings.Replace(more, "status", "status,home", 1),
			",public", ",public,canary-home"),
			strings.Replace(hiding, `{"name":"district"}`, `{"name":"district","herbarium":{"from":"home"}}`, 1),
			false},
		{"include dropped", hiding, more, strings.Replace(hiding, `"include":{"status":["public"]}`, "", 1), false},
		{"include widened", hiding, more, strings.Replace(hiding, `["public"]`, `["public","draft"]`, 1), false},
		{"exclude dropped", strings.Replace(hiding, `"include":{"status":["public"]}`,
			`"exclude":{"status":["draft"]}`, 1), more,
			strings.Replace(hiding, `"include":{"status":["public"]}`, "", 1), false},
		{"exclude narrowed", strings.Replace(hiding, `"include":{"status":["public"]}`,
			`"exclude":{"status":["draft","x"]}`, 1), more,
			strings.Replace(hiding, `"include":{"status":["public"]}`, `"exclude":{"status":["x"]}`, 1), false},
		{"include of another column", hiding, more,
			strings.Replace(hiding, `{"status":["public"]}`, `{"district":["canary-row","North","South"]}`, 1), false},
		{"opened", `"herbarium":{"access":"key"}`, more, `"herbarium":{"access":"open"}`, false},
		{"source made public", hiding, more, strings.Replace(hiding, `{"include"`, `{"source":"public","include"`, 1),
			false},
	}
	for _, way := range []string{"command", "watch", "PUT", "PATCH", "review"} {
		for _, tt := range cases {
			t.Run(way+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				n := newNode(t, nodeOptions{})
				must.NoError(t, n.ways()["PUT"](attempt{file: people, descriptor: descriptor(tt.first)}))
				before := n.public()
				if strings.Contains(before, "canary") {
					t.Fatalf("the first version is %s", before)
				}
				a := attempt{file: tt.file}
				if tt.descriptor != "" {
					a.descriptor = descriptor(tt.descriptor)
				}
				a.Consents, a.Force = []herb.Consent{herb.ConsentBreaking, herb.ConsentExpectations}, true
				err := n.ways()[way](a)
				if now := n.public(); strings.Contains(now, "canary") || strings.Contains(now, "source") {
					t.Fatalf("became public, with the error %v:\n%s", err, now)
				}
				if tt.accepted || way == "PATCH" && tt.descriptor == "" && err == nil {
					if err != nil {
						t.Error(err)
					}
					return
				}
				consents := herb.ConsentsOf(err)
				if herb.CodeOf(err) != herb.CodeRejected || way != "watch" &&
					!slices.Equal(consents, []herb.Consent{herb.ConsentExposure}) {
					t.Fatalf("got %v, requires %v", err, consents)
				}
				a.Consents = herb.Consents()
				if err := n.ways()[way](a); err != nil {
					t.Errorf("with consent: %v", err)
				}
				if now := n.public(); !strings.Contains(now, "canary") && !strings.Contains(now, "source") {
					t.Errorf("with consent: %s", now)
				}
			})
		}
	}
}

// TestExposure_missingColumn publishes a file without a column: its field is not filled from
// another one.
func TestExposure_missingColumn(t *testing.T) {
	t.Parallel()
	for way, run := range newNode(t, nodeOptions{}).ways() {
		n := newNode(t, nodeOptions{})
		run = n.ways()[way]
		if run == nil {
			t.Fatal(way)
		}
		fields := `"schema":{"fields":[{"name":"name"},{"name":"district"}]}`
		must.NoError(t, n.ways()["PUT"](attempt{file: "name,phone,district\nAda,canary-1,North\n",
			descriptor: descriptor(fields)}))
		err := run(attempt{file: "name,phone\nBob,canary-2\n"})
		want := `no such column "district"; columns: name, phone`
		switch way {
		case "PATCH":
			want = "the file has the fields name, but the live version has name, district"
		case "review": // whose publisher may consent
			want = `field "district" is removed`
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(n.public(), "canary") {
			t.Errorf("%s: %v\n%s", way, err, n.public())
		}
	}
}

// TestExposure_remembered hides a column that the next version lacks: it stays hidden when it comes
// back.
func TestExposure_remembered(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	put := n.ways()["PUT"]
	schema := `"schema":{"fieldsMatch":["subset"],"fields":[{"name":"name"},{"name":"district"},{"name":"status"}]}`
	must.NoError(t, put(attempt{file: people, descriptor: descriptor(schema), PublishOptions: versions.PublishOptions{
		Consents: []herb.Consent{herb.ConsentExposure}}}))
	must.NoError(t, n.ways()["PATCH"](attempt{file: "name,phone,district,status\nKim,canary-7,West,public\n"}))
	must.NoError(t, put(attempt{file: "name,district,status\nAda,North,public\nLea,West,public\nMo,x,public\n"}))
	for name, file := range map[string]string{"phone": more, "contact": strings.Replace(more, "phone", "contact", 1)} {
		with := descriptor(strings.Replace(schema, `{"name":"name"}`,
			fmt.Sprintf(`{"name":"name"},{"name":%q}`, name), 1))
		err := put(attempt{file: file, descriptor: with})
		if !slices.Equal(herb.ConsentsOf(err), []herb.Consent{herb.ConsentExposure}) {
			t.Errorf("%s: %v\n%s", name, err, n.public())
		}
	}
}

// TestExposure_rollback rolls back to a version that exposes more than the live one.
func TestExposure_rollback(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{
		"a column":   `"herbarium":{"include":{"status":["public"]}}`,
		"rows":       `"schema":{"fields":[{"name":"name"},{"name":"district"},{"name":"status"}]}`,
		"everything": `"title":"x"`,
	} {
		n := newNode(t, nodeOptions{})
		put := n.ways()["PUT"]
		must.NoError(t, put(attempt{file: people, descriptor: descriptor(first)}))
		must.NoError(t, put(attempt{file: people, descriptor: descriptor(hiding),
			PublishOptions: versions.PublishOptions{Consents: []herb.Consent{herb.ConsentBreaking}}}))
		_, err := n.library.Rollback(t.Context(), prices, "")
		if !slices.Equal(herb.ConsentsOf(err), []herb.Consent{herb.ConsentExposure}) ||
			strings.Contains(n.public(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := n.library.Rollback(t.Context(), prices, "", herb.ConsentExposure); err != nil ||
			!strings.Contains(n.public(), "canary") {
			t.Errorf("%s with consent: %v", name, err)
		}
	}
}
