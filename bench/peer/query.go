package peer

import (
	"strings"

	"herbarium/bench/gen"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// statement is SQL with its arguments.
type statement struct {
	sql  string
	args []any
}

// translate returns the statements that count the records of a request and that list a page of them.
func translate(r *query.Request) (count, page statement, err error) {
	fields := gen.Fields()
	var where []string
	var args []any
	for _, c := range r.Conditions {
		cond, values, err := condition(fields[c.Field], c)
		if err != nil {
			return count, page, err
		}
		where, args = append(where, cond), append(args, values...)
	}
	from, order := "items", "items.id"
	switch {
	case r.Search == nil:
	case len(r.Search.Clauses) == 0:
		where = append(where, "false")
	case r.ByRelevance():
		from, order = "words JOIN items ON items.id = words.rowid", "words.rank"
		where, args = append(where, "words MATCH ?"), append(args, match(r.Search))
	default:
		where = append(where, "items.id IN (SELECT rowid FROM words WHERE words MATCH ?)")
		args = append(args, match(r.Search))
	}
	if r.Sort != query.NoSort {
		order = sortColumn(fields[r.Sort])
		if r.Desc {
			order += " DESC"
		}
		order += ", items.id"
	}
	filter := ""
	if len(where) > 0 {
		filter = " WHERE " + strings.Join(where, " AND ")
	}
	counted := from
	if r.ByRelevance() && len(r.Conditions) == 0 {
		counted = "words" // without a join
	}
	count = statement{"SELECT count(*) FROM " + counted + filter, args}
	page = statement{
		"SELECT items." + strings.ReplaceAll(strings.TrimSpace(gen.Header), ",", ", items.") + " FROM " + from + filter + " ORDER BY " + order + " LIMIT ? OFFSET ?",
		append(args[:len(args):len(args)], r.PerPage, r.Offset()),
	}
	return count, page, nil
}

func sortColumn(f herb.Field) string {
	switch f.Name {
	case "price":
		return "items.price_number"
	case "title":
		return "items.title_key"
	}
	return "items." + f.Name
}

// condition translates a filter. It supports the operators that are measured.
func condition(f herb.Field, c query.Condition) (sql string, args []any, err error) {
	ops := map[query.Op]string{
		query.OpEq: " = ", query.OpGt: " > ", query.OpGte: " >= ", query.OpLt: " < ", query.OpLte: " <= ",
	}
	op, ok := ops[c.Op]
	if !ok || f.Name == "title" && c.Op != query.OpEq {
		return "", nil, herb.Invalidf("%s[%s] is not done here", f.Name, c.Op)
	}
	column, value := "items."+f.Name, "?"
	switch {
	case f.Name == "price":
		column, value = "items.price_number", "CAST(? AS REAL)"
	case f.Type == herb.TypeList && c.Op == query.OpEq:
		column, op, value = "items.id", " IN ", "(SELECT item FROM item_tags WHERE tag = ?)"
	}
	var either []string
	for _, v := range c.Values {
		either = append(either, column+op+value)
		args = append(args, v.Text)
	}
	return "(" + strings.Join(either, " OR ") + ")", args, nil
}

// match writes a search for FTS5. Words are letters and digits, so that none needs to be escaped in its quotation marks.
func match(s *query.Search) string {
	var with, without []string
	for _, c := range s.Clauses {
		phrase := `"` + strings.Join(c.Words, " ") + `"`
		if c.Prefix {
			phrase += " *"
		}
		if c.Exclude {
			without = append(without, phrase)
		} else {
			with = append(with, phrase)
		}
	}
	return strings.Join(append([]string{strings.Join(with, " AND ")}, without...), " NOT ")
}
