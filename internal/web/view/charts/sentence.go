package charts

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/state"
)

// Clause is a part of the sentence that says what a chart shows. One with choices is a control of
// the form that changes the question.
type Clause struct {
	Before  string // text before the clause
	Text    string
	Name    string // of the control: its parameter is state.ParamSet with it
	Label   string // of the control, for screen readers
	Choices []Choice
	Columns bool // the choices are columns, and so many that the control is a box for a name
	Quiet   bool // the clause offers an addition; it is not part of the title
}

// Choice is a choice of a clause.
type Choice struct {
	Value   string // of the parameter
	Label   string
	Current bool

	change func(*Question) // nil: the question stays as it is
}

func (c *Clause) add(value, label string, current bool, change func(*Question)) {
	c.Choices = append(c.Choices, Choice{value, label, current, change})
}

// Value returns the value of the current choice.
func (c *Clause) Value() string {
	if i := slices.IndexFunc(c.Choices, func(o Choice) bool { return o.Current }); i >= 0 {
		return c.Choices[i].Value
	}
	return ""
}

// Listed returns the choices that the list of a box contains.
func (c *Clause) Listed() []Choice {
	const most = 500
	return c.Choices[:min(len(c.Choices), most)]
}

// find returns the choice with a value. In a box, a part of the name of a column is enough.
func (c *Clause) find(value string) (choice Choice, ok bool) {
	part := text.Fold(value)
	for _, matches := range []func(o Choice) bool{
		func(o Choice) bool { return o.Value == value },
		func(o Choice) bool { return c.Columns && o.Label == value },
		func(o Choice) bool { return c.Columns && strings.Contains(text.Fold(o.Value+" "+o.Label), part) },
	} {
		if i := slices.IndexFunc(c.Choices, matches); i >= 0 {
			return c.Choices[i], true
		}
	}
	return choice, false
}

// titleOf returns a sentence as text, without the clauses with some names.
func titleOf(clauses []Clause, without ...string) string {
	var b strings.Builder
	for _, c := range clauses {
		if !c.Quiet && !slices.Contains(without, c.Name) {
			b.WriteString(c.Before + c.Text)
		}
	}
	return format.PlainText(b.String())
}

// Change returns the address of the question of a state with the clauses that a form sets. Clauses
// that suit the question no longer after others have changed are left out.
func Change(s *state.State) (url string, err error) {
	q, err := ParseQuestion(s)
	if err != nil {
		return "", err
	}
	for _, was := range q.sentence(anyAggregates) {
		at := slices.IndexFunc(s.Set, func(p query.Param) bool { return p.Name == state.ParamSet+was.Name })
		if at < 0 || s.Set[at].Value == was.Value() {
			continue
		}
		now := q.sentence(anyAggregates)
		i := slices.IndexFunc(now, func(c Clause) bool { return c.Name == was.Name })
		if i < 0 {
			continue
		}
		choice, ok := now[i].find(s.Set[at].Value)
		switch {
		case ok && choice.change != nil:
			q = q.with(choice.change)
		case !ok && now[i].Columns:
			return "", herb.Invalidf("no column that suits %q is called %q", now[i].Label, s.Set[at].Value)
		}
	}
	other := withQuestion(s, q)
	other.Listing = other.AnyPage()
	return other.URL(), nil
}

// anyAggregates are results with more groups and series than a chart shows: with them, a sentence
// has all choices.
var anyAggregates = Aggregates{
	Groups: query.Aggregate{Groups: query.MaxGroups}, Series: query.Aggregate{Groups: query.MaxGroups},
}

// sentence returns the question as a sentence with the choices of its clauses. Additions follow it.
func (q *Question) sentence(found Aggregates) []Clause {
	b := &sentenceBuilder{Question: q}
	if q.isScatter() {
		b.axis(1, "split", "")
		b.axis(0, "by", " by ")
		b.kind()
		return b.clauses
	}
	b.measure()
	b.by(0)
	if len(q.By) > 0 {
		b.interval(0)
		b.top(found.Groups.Groups)
		b.by(1)
		if len(q.By) > 1 {
			b.interval(1)
			b.series(found.Series.Groups)
		}
		b.kind()
	}
	if q.req.Zone != nil {
		b.clauses = append(b.clauses, Clause{Before: ", times in ", Text: q.req.Zone.String()})
	}
	var said, offered []Clause
	for _, c := range b.clauses {
		if c.Quiet {
			offered = append(offered, c)
		} else {
			said = append(said, c)
		}
	}
	return append(said, offered...)
}
