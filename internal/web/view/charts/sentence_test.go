package charts

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// TestKindWord checks that the sentence of a chart has words of its own for every kind of measure.
func TestKindWord(t *testing.T) {
	t.Parallel()
	kinds := map[string]query.MeasureKind{}
	for _, k := range query.MeasureKinds() {
		word := kindWord(query.Measure{Kind: k, Percent: 90})
		if other, ok := kinds[word]; ok {
			t.Errorf("%s and %s are both called %q", k, other, word)
		}
		kinds[word] = k
	}
}

// change returns the query of the question of a query after a form has set clauses of its sentence.
func change(t *testing.T, d *herb.Dataset, raw string, set ...string) (string, error) {
	t.Helper()
	ps, err := query.ParseParams(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, clause := range set {
		name, value, _ := strings.Cut(clause, "=")
		ps = ps.With(query.Param{Name: state.ParamSet + name, Value: value})
	}
	s, canonical, err := state.ParseState("/p/chart", query.Split(ps.Encode()), columns.Read(d))
	if err != nil || canonical {
		t.Fatalf("%s: canonical %t, %v", ps.Encode(), canonical, err)
	}
	url, err := Change(&s)
	return strings.TrimPrefix(strings.TrimPrefix(url, "/p/chart"), "?"), err
}

// TestChange_choices checks that every choice of every clause leads to a canonical address of
// another sentence, in which it is the current one.
func TestChange_choices(t *testing.T) {
	t.Parallel()
	d, _ := sales()
	level := []string{"category%5Bne%5D=moss"}
	seen := map[string]bool{level[0]: true}
	for range 3 {
		var next []string
		for _, raw := range level {
			_, _, a := ask(t, raw)
			for _, c := range a.Sentence {
				current := 0
				for _, o := range c.Choices {
					if o.Current {
						current++
						if o.Label != c.Text {
							t.Errorf("%s: the control %s shows %q, the title has %q", raw, c.Name, o.Label, c.Text)
						}
					}
					to, err := change(t, d, raw, c.Name+"="+o.Value)
					if err != nil {
						t.Fatalf("%s, %s=%s: %v", raw, c.Name, o.Value, err)
					}
					if isKept := to == raw || raw == level[0]; o.Current && !isKept && !seen[to] {
						t.Errorf("%s: the current choice of %s leads to %s", raw, c.Name, to)
					}
					if !seen[to] {
						seen[to] = true
						next = append(next, to)
					}
				}
				if len(c.Choices) > 0 && current != 1 {
					t.Errorf("%s: the control %s has %d current choices", raw, c.Name, current)
				}
			}
		}
		level = next
	}
	if len(seen) < 100 {
		t.Errorf("only %d sentences", len(seen))
	}
}

// TestChange sets one or several clauses of a sentence. A chart whose form was not chosen gets the
// form that suits another question, a chosen one stays; a zone stays as long as it applies; clauses
// that suit the question no longer are left out.
func TestChange(t *testing.T) {
	t.Parallel()
	d, _ := sales()
	for _, tt := range []struct{ raw, set, want string }{
		{"_by=date%3Amonth", "interval=weekday", "_by=date%3Aweekday"},
		{"_by=date%3Amonth&_kind=bars", "interval=weekday", "_by=date%3Aweekday"},
		{"_by=date%3Aweekday", "interval=month", "_by=date%3Amonth"},
		{"_by=date%3Aweekday&_kind=lines", "interval=month_of_year", "_by=date%3Amonth_of_year&_kind=lines"},
		{"_by=date%3Amonth&_by=category&_kind=heat", "interval=weekday", "_by=date%3Aweekday&_by=category&_kind=heat"},
		{"_by=at%3Ahour&_by=category&_zone=Europe%2FBerlin", "interval=day",
			"_by=at%3Aday&_by=category&_zone=Europe%2FBerlin"},
		{"_by=at%3Ahour&_by=category&_zone=Europe%2FBerlin", "by=page", "_by=page&_by=category"},
		{"_by=date%3Amonth", "interval=each", "_by=date"},
		{"_by=date%3Amonth&_by=category", "split=", "_by=date%3Amonth"},
		{"_by=date%3Amonth&_by=category", "by=category", "_by=category&_by=date%3Amonth"},
		{"_by=category&page=2", "measure=sum field=id interval=month", "_by=category&_measure=sum%3Aprice"},
		{"_by=category&_measure=sum%3Aprice&page=2", "measure=mean field=id top=smallest10",
			"_by=category&_measure=mean%3Aid&_sort=mean%3Aid&_top=10"},
		{"_by=category&_title=Mine", "top=largest10", "_by=category&_top=10&_title=Mine"},
		{"_by=category&_title=Mine", "by=page", "_by=page"},
		{"_by=date%3Amonth", "by=category interval=year split=page series=2", "_by=category&_by=page"},
		{"_by=date%3Amonth&_by=category&category=fern", "series=2 kind=heat",
			"category=fern&_by=date%3Amonth&_by=category&_split=2&_kind=heat"},
		{"_by=category", "measure=sine by=nothing unknown=1", "_by=category"},
	} {
		got, err := change(t, d, tt.raw, strings.Fields(tt.set)...)
		if err != nil || got != tt.want {
			t.Errorf("%s, %s: %s, %v; want %s", tt.raw, tt.set, got, err, tt.want)
		}
	}
}

// TestChange_manyColumns names a column by a part of its name, because a control does not list
// them all.
func TestChange_manyColumns(t *testing.T) {
	t.Parallel()
	d := &openTables()["wide"].Dataset
	d.Fields[200].Title = "Sweden"
	for set, want := range map[string]string{
		"field=ABX_land": "_by=year%3A1&_measure=mean%3AABX_land",
		"field=HBX":      "_by=year%3A1&_measure=mean%3AHBX_land",
		"field=sweden":   "_by=year%3A1&_measure=mean%3A" + d.Fields[200].Name,
		"field=Norway":   `no column that suits "Column of the measure" is called "Norway"`,
	} {
		got, err := change(t, d, "", set)
		if err != nil {
			got = herb.MessageOf(err)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", set, got, want)
		}
	}
	for _, c := range (&Question{data: columns.Read(d), fields: d.Fields, By: nil,
		Measure: countRows(), req: &query.AggregateRequest{}}).sentence(Aggregates{}) {
		if c.Name == "by" && (!c.Columns || len(c.Choices) != 218 || c.Value() != "") {
			t.Errorf("%d columns, a box: %t", len(c.Choices), c.Columns)
		}
	}
}
