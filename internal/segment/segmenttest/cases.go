package segmenttest

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// testCase is a dataset with queries whose expected results are written by hand.
type testCase struct {
	name string
	dataset
	queries []namedQuery
}

type dataset struct {
	plants  bool // valid for engines that store plants only
	fields  []herb.Field
	records []herb.Record
}

// namedQuery is a raw query and its expected result: of a listing the first field of each record on
// the page, and the total if it differs from their number; of facets what sketch returns, and of
// aggregates the total and the number of groups, then one line per group.
type namedQuery struct {
	keyword string // list, facets or aggregate
	raw     string
	want    []string
}

func (c testCase) check(ctx context.Context, l query.Engine) error {
	var errs []error
	for _, q := range c.queries {
		check := c.checkList
		switch q.keyword {
		case "facets":
			check = c.checkFacets
		case "aggregate":
			check = c.checkAggregate
		}
		if err := check(ctx, l, q); err != nil {
			errs = append(errs, fmt.Errorf("%s %q: %w", q.keyword, q.raw, err))
		}
	}
	return errors.Join(errs...)
}

func (c testCase) checkList(ctx context.Context, l query.Engine, q namedQuery) error {
	got, err := evaluate(ctx, q.raw, c.fields, query.Parse, l.List)
	if err != nil {
		return err
	}
	page, all, hasTotal := strings.Cut(q.want[0], "of ")
	ids := strings.Fields(page)
	total := len(ids)
	if hasTotal {
		total, err = strconv.Atoi(all)
		if err != nil {
			return err
		}
	}
	want := query.Page{Total: total}
	for _, id := range ids {
		i := slices.IndexFunc(c.records, func(rec herb.Record) bool { return rec[0] == id })
		if i < 0 {
			return fmt.Errorf("the case has no record %q", id)
		}
		want.Records = append(want.Records, c.records[i].AppendJSON(nil, c.fields))
	}
	return compare(want, got)
}

func (c testCase) checkFacets(ctx context.Context, l query.Engine, q namedQuery) error {
	facets, err := evaluate(ctx, q.raw, c.fields, query.ParseFacets, l.Facets)
	if err != nil {
		return err
	}
	if got, want := strings.Join(sketch(facets), "\n"), strings.Join(q.want, "\n"); got != want {
		return errors.New("got\n" + got + "\nwant\n" + want)
	}
	return nil
}

func (c testCase) checkAggregate(ctx context.Context, l query.Engine, q namedQuery) error {
	found, err := evaluate(ctx, q.raw, c.fields, query.ParseAggregate, l.Aggregate)
	if err != nil {
		return err
	}
	lines := []string{fmt.Sprintf("%d in %d", found.Total, found.Groups)}
	for _, row := range found.Rows {
		line := strings.Join(slices.Concat(row.By, row.Values), " | ")
		lines = append(lines, strings.Join(strings.Fields(line), " ")) // empty values leave two blanks
	}
	if got, want := strings.Join(lines, "\n"), strings.Join(q.want, "\n"); got != want {
		return errors.New("got\n" + got + "\nwant\n" + want)
	}
	return nil
}

// sketch formats facets briefly: the total, then one line per field.
func sketch(f query.Facets) []string {
	lines := []string{fmt.Sprint(f.Total)}
	for _, facet := range f.Fields {
		line := fmt.Sprintf("%s: %d empty, %d distinct", facet.Field, facet.Empty, facet.Distinct)
		if facet.Total != f.Total {
			line = fmt.Sprintf("%s: of %d: %d empty, %d distinct", facet.Field, facet.Total, facet.Empty,
				facet.Distinct)
		}
		if facet.Matching != facet.Distinct {
			line += fmt.Sprintf(", %d matching", facet.Matching)
		}
		line += ":"
		for _, v := range facet.Values {
			line += fmt.Sprintf(" %s=%d", v.Value, v.Count)
		}
		if facet.Min != "" || facet.Max != "" {
			line += fmt.Sprintf("; %s to %s", facet.Min, facet.Max)
		}
		previous := ""
		for i, bucket := range facet.Histogram {
			switch {
			case i == 0 && facet.Scale != query.ScaleLinear:
				line += fmt.Sprintf("; %s from %s", facet.Scale, bucket.From)
			case i == 0:
				line += "; from " + bucket.From
			case bucket.From != previous:
				line += " gap " + bucket.From
			}
			previous = bucket.To
			line += fmt.Sprintf(" (%d) %s", bucket.Count, bucket.To)
		}
		lines = append(lines, line)
	}
	return lines
}

//go:embed cases/*.txt
var caseFiles embed.FS

// testCases returns all named cases. It panics on a syntax error; cases/README.md describes the
// format.
func testCases() (cases []testCase) {
	err := fs.WalkDir(caseFiles, "cases", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := caseFiles.ReadFile(path)
		var p caseParser
		for i, line := range strings.Split(string(content), "\n") {
			if err := p.parseLine(line); err != nil {
				return fmt.Errorf("%s:%d: %w", path, i+1, err)
			}
		}
		cases = append(cases, p.cases...)
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("segmenttest: %v", err))
	}
	return cases
}

type caseParser struct {
	dataset // of the following cases
	cases   []testCase
}

func (p *caseParser) parseLine(line string) (err error) {
	line, _, _ = strings.Cut(line, "  # ")
	keyword, rest, _ := strings.Cut(line, " ")
	switch rest = strings.TrimSpace(rest); {
	case line == "" || line[0] == '#':
	case line == "dataset":
		p.dataset = dataset{}
	case line == "dataset plants":
		p.dataset = dataset{plants: true, fields: herb.PlantFields()}
	case keyword == "field":
		args := strings.SplitN(rest, " ", 3)
		if len(args) < 3 {
			return fmt.Errorf("field %q: want a type, flags and a name", rest)
		}
		has := func(flag string) bool { return strings.Contains(args[1], flag) }
		p.fields = append(p.fields, herb.Field{
			Name: args[2], Type: herb.Type(args[0]), Searchable: has("s"), Filterable: has("f"), Sortable: has("o"),
		})
	case keyword == "notation" && len(p.fields) > 0:
		err = json.Unmarshal([]byte(rest), &p.fields[len(p.fields)-1].Notation)
	case keyword == "categories" && len(p.fields) > 0:
		err = json.Unmarshal([]byte(rest), &p.fields[len(p.fields)-1].Categories)
	case keyword == "record":
		var rec herb.Record
		for value := range strings.SplitSeq(rest, "|") {
			rec = append(rec, expand(strings.TrimSpace(value)))
		}
		if len(rec) != len(p.fields) {
			err = fmt.Errorf("%d values for %d fields", len(rec), len(p.fields))
		}
		p.records = append(p.records, rec)
	case keyword == "case":
		p.cases = append(p.cases, testCase{name: rest, dataset: p.dataset})
	case len(p.cases) == 0:
		err = fmt.Errorf("%q is not in a case", line)
	default:
		err = p.cases[len(p.cases)-1].parseQuery(keyword, expand(rest))
	}
	return err
}

// parseQuery parses a query with its expected result. An indented line is the expected facet of a
// field, or an expected group.
func (c *testCase) parseQuery(keyword, rest string) error {
	raw, want, _ := strings.Cut(rest, "=>")
	switch {
	case keyword == "list" || keyword == "facets" || keyword == "aggregate":
		c.queries = append(c.queries, namedQuery{keyword, strings.TrimSpace(raw), []string{strings.TrimSpace(want)}})
	case keyword == "" && len(c.queries) > 0 && c.queries[len(c.queries)-1].keyword != "list":
		want := &c.queries[len(c.queries)-1].want
		*want = append(*want, rest)
	default:
		return fmt.Errorf("unknown keyword %q", keyword)
	}
	return nil
}

var escape = regexp.MustCompile(`\\u[0-9a-f]{4}|<<([^>]+)\*(\d+)>>`)

// expand replaces \uXXXX with a character and <<text*n>> with n copies of a text.
func expand(s string) string {
	return escape.ReplaceAllStringFunc(s, func(match string) string {
		if groups := escape.FindStringSubmatch(match); groups[1] != "" {
			n, _ := strconv.Atoi(groups[2])
			return strings.Repeat(groups[1], n)
		}
		r, _, _, _ := strconv.UnquoteChar(match, 0) // the pattern admits valid escapes only
		return string(r)
	})
}
