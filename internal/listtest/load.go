package listtest

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

//go:embed cases/*.txt
var caseFiles embed.FS

// testCases returns all named cases. It panics on a syntax error; cases/README.md describes the format.
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
		panic(fmt.Sprintf("listtest: %v", err))
	}
	return cases
}

// caseParser parses one file.
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

// parseQuery parses a query with its expected result. An indented line is the expected facet of a field.
func (c *testCase) parseQuery(keyword, rest string) (err error) {
	raw, want, _ := strings.Cut(rest, "=>")
	raw, want = strings.TrimSpace(raw), strings.TrimSpace(want)
	switch {
	case keyword == "list":
		ids, total, hasTotal := strings.Cut(want, "of ")
		q := listQuery{query: raw, want: strings.Fields(ids)}
		if hasTotal {
			q.total, err = strconv.Atoi(total)
		}
		c.queries = append(c.queries, q)
	case keyword == "facets":
		c.facets = append(c.facets, facetQuery{raw, []string{want}})
	case keyword == "" && len(c.facets) > 0:
		want := &c.facets[len(c.facets)-1].want
		*want = append(*want, rest)
	default:
		err = fmt.Errorf("unknown keyword %q", keyword)
	}
	return err
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
