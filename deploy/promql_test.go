package deploy_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// selector is a metric in an expression with its label matchers.
type selector struct {
	name     string
	matchers []matcher
}

type matcher struct{ label, op, value string }

// promQL parses the part of PromQL that the files in monitoring use: selectors with matchers and
// ranges, functions, aggregations, arithmetic, comparisons and set operators.
type promQL struct {
	tokens    []string
	selectors []selector
	labels    []string // in by, on and the like
}

var (
	promToken = regexp.MustCompile(
		`^\s*("(?:[^"\\]|\\.)*"|[0-9]+(?:ms|[smhdwy])\b|[0-9.]+(?:e-?[0-9]+)?|[a-zA-Z_:][a-zA-Z0-9_:]*|[=!]~|[=!<>]=|[-+*/%^(){}\[\],=<>])`)
	duration = regexp.MustCompile(`^[0-9]+(ms|[smhdwy])$`)
	promName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
)

var (
	aggregations = []string{"sum", "min", "max", "avg", "count", "topk"}
	functions    = map[string][]string{ // kinds of arguments
		"rate": {"range"}, "increase": {"range"}, "last_over_time": {"range"}, "time": {},
		"histogram_quantile": {"number", "instant"},
	}
	operators = []string{"+", "-", "*", "/", "%", "^", "==", "!=", "<", ">", "<=", ">=", "and", "or", "unless"}
)

// parsePromQL returns the selectors of an expression and the labels that it groups or matches by.
func parsePromQL(expr string) (p *promQL, err error) {
	p = &promQL{}
	for rest := expr; strings.TrimSpace(rest) != ""; {
		m := promToken.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("%s: unexpected %q", expr, rest)
		}
		p.tokens, rest = append(p.tokens, m[1]), rest[len(m[0]):]
	}
	defer func() {
		if failure, ok := recover().(promError); ok {
			err = fmt.Errorf("%s: %s before %v", expr, failure, p.tokens)
		}
	}()
	if kind := p.expression(); kind != "instant" || len(p.tokens) > 0 {
		return nil, fmt.Errorf("%s: a %s, and %v after it", expr, kind, p.tokens)
	}
	return p, nil
}

// promError ends parsing.
type promError string

func (p *promQL) next() (token string) {
	if len(p.tokens) > 0 {
		token = p.tokens[0]
	}
	return token
}

func (p *promQL) take() string {
	token := p.next()
	if token == "" {
		panic(promError("the expression ends"))
	}
	p.tokens = p.tokens[1:]
	return token
}

func (p *promQL) expect(token string) {
	if got := p.take(); got != token {
		panic(promError(fmt.Sprintf("%q instead of %q", got, token)))
	}
}

// expression parses operands between operators, regardless of precedence, and returns its kind:
// number, instant or range.
func (p *promQL) expression() string {
	kind := p.operand()
	for slices.Contains(operators, p.next()) {
		operator := p.take()
		if word := p.next(); word == "on" || word == "ignoring" {
			p.take()
			p.labelList()
		}
		right := p.operand()
		if kind == "range" || right == "range" {
			panic(promError("operator " + operator + " with a range"))
		}
		if right == "instant" {
			kind = "instant"
		}
	}
	return kind
}

func (p *promQL) operand() (kind string) {
	token := p.take()
	switch {
	case token == "(":
		kind = p.expression()
		p.expect(")")
		return kind
	case slices.Contains(aggregations, token):
		if p.next() == "by" || p.next() == "without" {
			p.take()
			p.labelList()
		}
		p.arguments(token, []string{"instant"})
		return "instant"
	case functions[token] != nil:
		p.arguments(token, functions[token])
		return "instant"
	case promName.MatchString(token):
		return p.selector(token)
	}
	if _, err := strconv.ParseFloat(token, 64); err != nil {
		panic(promError("unexpected " + token))
	}
	return "number"
}

func (p *promQL) arguments(function string, kinds []string) {
	p.expect("(")
	for i, want := range kinds {
		if i > 0 {
			p.expect(",")
		}
		if got := p.expression(); got != want {
			panic(promError(fmt.Sprintf("argument %d of %s is of kind %s, not %s", i+1, function, got, want)))
		}
	}
	p.expect(")")
}

func (p *promQL) labelList() {
	p.expect("(")
	for {
		p.labels = append(p.labels, p.take())
		if p.next() == ")" {
			p.take()
			return
		}
		p.expect(",")
	}
}

func (p *promQL) selector(name string) (kind string) {
	s := selector{name: name}
	if p.next() == "{" {
		for p.take(); p.next() != "}"; {
			m := matcher{label: p.take(), op: p.take()}
			value, err := strconv.Unquote(p.take())
			m.value = value
			if err != nil || !slices.Contains([]string{"=", "!=", "=~", "!~"}, m.op) {
				panic(promError("malformed matcher of " + m.label))
			}
			s.matchers = append(s.matchers, m)
			if p.next() == "," {
				p.take()
			}
		}
		p.take()
	}
	p.selectors = append(p.selectors, s)
	if p.next() != "[" {
		return "instant"
	}
	p.take()
	if d := p.take(); !duration.MatchString(d) {
		panic(promError("malformed duration " + d))
	}
	p.expect("]")
	return "range"
}
