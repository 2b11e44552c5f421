//go:build unix

package clienttest

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/must"
)

// question is a question about a dataset, the tool call that answers it, and the answer according
// to the source file.
type question struct {
	question, tool string
	arguments      map[string]any
	answer         func(*testing.T, toolResult) string
	want           string
}

// source is the rows of a source file by column.
type source []map[string]string

func readSource(t *testing.T, path string, comma rune) (s source) {
	t.Helper()
	f, err := os.Open(path)
	must.NoError(t, err)
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma = comma
	rows, err := r.ReadAll()
	must.NoError(t, err)
	for _, row := range rows[1:] {
		record := map[string]string{}
		for i, name := range rows[0] {
			record[name] = row[i]
		}
		s = append(s, record)
	}
	return s
}

// writeSources writes orders.csv and sensors.csv to a folder: prices with missing values, names in
// several scripts, numbers with a decimal comma, datetimes, markers of missing values.
func writeSources(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "shop")
	must.NoError(t, os.Mkdir(folder, 0o755))
	var orders, sensors strings.Builder
	orders.WriteString("order_id,placed,customer,country,amount,quantity,status,note\n")
	customers := []string{"Ana Lučić", "Björn Ångström", "陳大文", "O'Neill, Siobhán", "فاطمة", "Zoë"}
	countries := []string{"HR", "SE", "TW", "IE", "MA", "NL", "DE"}
	for i := range 4000 {
		amount := fmt.Sprintf("%d.%02d", 5+i*37%900, i*53%100)
		if i%97 == 5 {
			amount = ""
		}
		fmt.Fprintf(&orders, "%d,%d-%02d-%02d,%q,%s,%s,%d,%s,%s\n", 10_000+i, 2022+i*13%4, 1+i*7%12, 1+i*11%28,
			customers[i*i%6], countries[i*3%7], amount, 1+i%9,
			[]string{"paid", "open", "cancelled"}[i*i%5%3],
			[]string{"gift wrapping", "express delivery", "fragile: glass bottles", ""}[i%4])
	}
	sensors.WriteString("station;at;temperature;ok\n")
	for i := range 3000 {
		temperature := strings.Replace(fmt.Sprintf("%.1f", float64(i*29%400)/10-8), ".", ",", 1)
		if i%50 == 7 {
			temperature = "NA"
		}
		fmt.Fprintf(&sensors, "%s;2025-%02d-%02dT%02d:%02d:00Z;%s;%s\n", []string{"North", "South", "Harbour"}[i%3],
			1+i%12, 1+i*5%28, i%24, i*17%60, temperature, []string{"yes", "no"}[i%7/6])
	}
	writeFile(t, filepath.Join(folder, "orders.csv"), orders.String())
	writeFile(t, filepath.Join(folder, "sensors.csv"), sensors.String())
	return folder
}

// where returns the rows that meet a condition.
func (s source) where(keep func(map[string]string) bool) (kept source) {
	for _, r := range s {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

func is(column, value string) func(map[string]string) bool {
	return func(r map[string]string) bool { return r[column] == value }
}

// number returns the number of a value, nil if it is missing.
func number(s string) *big.Rat {
	n, ok := new(big.Rat).SetString(strings.Replace(s, ",", ".", 1))
	if !ok {
		return nil
	}
	return n
}

// numbers returns the numbers of a column in ascending order.
func (s source) numbers(column string) (all []*big.Rat) {
	for _, r := range s {
		if n := number(r[column]); n != nil {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, (*big.Rat).Cmp)
	return all
}

func (s source) sum(column string) *big.Rat {
	sum := new(big.Rat)
	for _, n := range s.numbers(column) {
		sum.Add(sum, n)
	}
	return sum
}

func (s source) mean(column string) string {
	return exact(new(big.Rat).Quo(s.sum(column), big.NewRat(int64(len(s.numbers(column))), 1)))
}

func (s source) median(column string) string {
	n := s.numbers(column)
	sum := new(big.Rat).Add(n[(len(n)-1)/2], n[len(n)/2])
	return exact(sum.Quo(sum, big.NewRat(2, 1)))
}

// exact returns a number as a fraction, which sameAnswer compares by value.
func exact(n *big.Rat) string { return n.RatString() }

func (s source) count() string { return strconv.Itoa(len(s)) }

// values returns the distinct values of a column, sorted.
func (s source) values(column string) []string {
	seen := map[string]bool{}
	for _, r := range s {
		if r[column] != "" {
			seen[r[column]] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), compareText)
}

// groups returns the value of a function for each value of a column, as "value=result", sorted.
func (s source) groups(column string, f func(source) string) string {
	var all []string
	for _, v := range s.values(column) {
		all = append(all, v+"="+f(s.where(is(column, v))))
	}
	return strings.Join(all, " ")
}

// highest returns the value of a column with the most rows.
func (s source) highest(column string) (value string) {
	most := 0
	for _, v := range s.values(column) {
		if n := len(s.where(is(column, v))); n > most {
			value, most = v, n
		}
	}
	return value
}

// sameAnswer compares answers: numbers by value up to the digits of a mean, others as texts.
func sameAnswer(got, want string) bool {
	g, w := strings.Fields(got), strings.Fields(want)
	return len(g) == len(w) && slices.EqualFunc(g, w, func(got, want string) bool {
		gotName, gotValue, _ := strings.Cut(got, "=")
		wantName, wantValue, named := strings.Cut(want, "=")
		if !named {
			gotName, gotValue, wantName, wantValue = "", got, "", want
		}
		a, b := number(gotValue), number(wantValue)
		if a == nil || b == nil {
			return got == want
		}
		difference := a.Sub(a, b)
		limit := new(big.Rat).Mul(b.Abs(b), big.NewRat(1, 1e13))
		return gotName == wantName && difference.Abs(difference).Cmp(limit) <= 0
	})
}

// Answers that a model reads from a result.

// cell reads a column of the first row.
func cell(column string) func(*testing.T, toolResult) string {
	return func(t *testing.T, r toolResult) string {
		rows := r.table(t)
		at := slices.Index(rows[0], column)
		if len(rows) < 2 || at < 0 {
			return "no such cell"
		}
		return rows[1][at]
	}
}

// column reads a column of all rows.
func column(name string) func(*testing.T, toolResult) string {
	return func(t *testing.T, r toolResult) string {
		rows := r.table(t)
		at := slices.Index(rows[0], name)
		var values []string
		for _, row := range rows[1:] {
			values = append(values, row[at])
		}
		return strings.Join(values, " ")
	}
}

// pairs reads groups and their first measure, sorted.
func pairs(t *testing.T, r toolResult) string {
	var all []string
	for _, row := range r.table(t)[1:] {
		all = append(all, row[0]+"="+row[1])
	}
	slices.SortFunc(all, compareText)
	return strings.Join(all, " ")
}

// total reads the exact total of the head line.
func total(_ *testing.T, r toolResult) string {
	m := regexp.MustCompile(`(?:of|:) ([\d,]+) \(exact\)`).FindStringSubmatch(r.Text)
	if m == nil {
		return "no total"
	}
	return strings.ReplaceAll(m[1], ",", "")
}

// line reads the row that begins with a value, from any table of a result.
func line(value string, at int) func(*testing.T, toolResult) string {
	return func(_ *testing.T, r toolResult) string {
		for l := range strings.Lines(r.Text) {
			if row, err := csv.NewReader(strings.NewReader(l)).Read(); err == nil && row[0] == value && at < len(row) {
				return row[at]
			}
		}
		return "no such line"
	}
}

// questions returns forty questions.
func questions(garden, orders, sensors source) []question {
	type a = map[string]any
	const g, o, s = "garden/catalog", "shop/orders", "shop/sensors"
	l := func(values ...string) []string { return values }
	count := source.count
	more := func(column, than string) func(map[string]string) bool {
		limit := number(than)
		return func(r map[string]string) bool { n := number(r[column]); return n != nil && n.Cmp(limit) > 0 }
	}
	has := func(column, text string) func(map[string]string) bool {
		return func(r map[string]string) bool { return strings.Contains(strings.ToLower(r[column]), text) }
	}
	tagged := func(tag string) func(map[string]string) bool {
		return func(r map[string]string) bool { return slices.Contains(strings.Split(r["tags"], ","), tag) }
	}
	trees, paid := garden.where(is("category", "tree")), orders.where(is("status", "paid"))
	harbour := sensors.where(is("station", "Harbour"))
	sumOf := func(column string) func(source) string {
		return func(s source) string { return exact(s.sum(column)) }
	}
	meanOf := func(column string) func(source) string {
		return func(s source) string { return s.mean(column) }
	}
	dearest := func(s source, column, id string) string {
		n := s.numbers(column)
		top := s.where(func(r map[string]string) bool {
			v := number(r[column])
			return v != nil &&
				v.Cmp(n[len(n)-1]) == 0
		})
		return top[0][id]
	}
	month := func(s source, column string) map[string]int {
		counts := map[string]int{}
		for _, r := range s {
			counts[r[column][:7]]++
		}
		return counts
	}
	months := func(s source, column string) string {
		var all []string
		for m, n := range month(s, column) {
			all = append(all, fmt.Sprintf("%s=%d", m, n))
		}
		slices.SortFunc(all, compareText)
		return strings.Join(all, " ")
	}
	first := func(s source, column string, n int) string {
		var all []string
		for _, r := range s[:n] {
			all = append(all, r[column])
		}
		return strings.Join(all, " ")
	}
	return []question{
		{"Which dataset is about plants in a garden?", "search_datasets", a{"query": "garden"}, cell("dataset"), g},
		{"How many records do the orders have?", "search_datasets", a{"query": "orders"}, cell("records"),
			orders.count()},
		{"Where does glass occur?", "search_datasets", a{"query": "bottles"}, cell("dataset"), o},
		{"In how many orders does glass occur?", "search_datasets", a{"query": "bottles"}, cell("matching records"),
			orders.where(has("note", "bottles")).count()},
		{"How many kinds of plants are there?", "describe_dataset", a{"dataset": g}, line("category", 5),
			strconv.Itoa(len(garden.values("category")))},
		{"How many plants have no price?", "describe_dataset", a{"dataset": g}, line("price", 4),
			garden.where(is("price", "")).count()},
		{"When was the last plant added?", "describe_dataset", a{"dataset": g}, line("date", 7),
			slices.Max(garden.values("date"))},
		{"How many readings have no temperature?", "describe_dataset", a{"dataset": s, "fields": l("temperature")},
			line("temperature", 4), sensors.where(is("temperature", "NA")).count()},
		{"Which type has the amount of an order?", "describe_dataset", a{"dataset": o}, line("amount", 1), "number"},
		{"How many trees are there?", "query_records", a{"dataset": g, "filters": l("category=tree"), "per_page": 1},
			total, trees.count()},
		{"What is the dearest tree?", "query_records",
			a{"dataset": g, "filters": l("category=tree"), "sort": l("-price"), "fields": l("id")}, cell("id"),
			dearest(trees, "price", "id")},
		{"How many plants are edible?", "query_records",
			a{"dataset": g, "filters": l("tags=edible"), "fields": l("id")}, total,
			garden.where(tagged("edible")).count()},
		{"How many plants are trees or shrubs?", "query_records",
			a{"dataset": g, "filters": l("category=tree", "category=shrub"), "fields": l("id")}, total,
			strconv.Itoa(len(trees) + len(garden.where(is("category", "shrub"))))},
		{"How many plants cost more than 100?", "query_records",
			a{"dataset": g, "filters": l("price[gt]=100"), "fields": l("id")}, total,
			garden.where(more("price", "100")).count()},
		{"How many plants were added in May 2023?", "query_records",
			a{"dataset": g, "filters": l("date[prefix]=2023-05"), "fields": l("id")}, total,
			garden.where(func(r map[string]string) bool { return strings.HasPrefix(r["date"], "2023-05") }).count()},
		{"How many plants have no description?", "query_records",
			a{"dataset": g, "filters": l("description[empty]=true"), "fields": l("id")}, total,
			garden.where(is("description", "")).count()},
		{"How many names contain bao?", "query_records", a{"dataset": g, "filters": l("title[contains]=bao"),
			"fields": l("id")}, total, garden.where(has("title", "bao")).count()},
		{"What is plant 17 called?", "get_record", a{"dataset": g, "key": l("17")}, line("title", 1),
			garden.where(is("id", "17"))[0]["title"]},
		{"Who described plant 400?", "get_record", a{"dataset": g, "key": "400", "fields": l("author")},
			line("author", 1), garden.where(is("id", "400"))[0]["author"]},
		{"How many plants of each kind are there?", "aggregate", a{"dataset": g, "by": l("category")}, pairs,
			garden.groups("category", count)},
		{"What do the plants of each kind cost on average?", "aggregate",
			a{"dataset": g, "by": l("category"), "measures": l("mean:price")}, pairs,
			garden.groups("category", meanOf("price"))},
		{"What is the median price?", "aggregate", a{"dataset": g, "measures": l("median:price")}, cell("median:price"),
			garden.median("price")},
		{"Which kind has the most plants?", "aggregate", a{"dataset": g, "by": l("category"), "sort": l("-count"),
			"per_page": 1}, cell("category"), garden.highest("category")},
		{"How many authors are there?", "aggregate", a{"dataset": g, "measures": l("distinct:author")},
			cell("distinct:author"), strconv.Itoa(len(garden.values("author")))},
		{"How many orders are there?", "aggregate", a{"dataset": o}, cell("count"), orders.count()},
		{"What is the revenue of paid orders?", "aggregate",
			a{"dataset": o, "measures": l("sum:amount"), "filters": l("status=paid")}, cell("sum:amount"),
			exact(paid.sum("amount"))},
		{"What is the revenue by country?", "aggregate",
			a{"dataset": o, "by": l("country"), "measures": l("sum:amount")}, pairs,
			orders.groups("country", sumOf("amount"))},
		{"How many orders has each status?", "aggregate", a{"dataset": o, "by": l("status")}, pairs,
			orders.groups("status", count)},
		{"How many orders are there per month?", "aggregate", a{"dataset": o, "by": l("placed:month")}, pairs,
			months(orders, "placed")},
		{"How many orders have an amount?", "aggregate", a{"dataset": o, "measures": l("filled:amount")},
			cell("filled:amount"), strconv.Itoa(len(orders.numbers("amount")))},
		{"How many bottles did 陳大文 order?", "aggregate",
			a{"dataset": o, "measures": l("sum:quantity"), "filters": l("customer=陳大文")}, cell("sum:quantity"),
			exact(orders.where(is("customer", "陳大文")).sum("quantity"))},
		{"How many orders did Ana Lučić cancel?", "query_records",
			a{"dataset": o, "filters": l("customer=Ana Lučić", "status=cancelled"), "fields": l("order_id")}, total,
			orders.where(is("customer", "Ana Lučić")).where(is("status", "cancelled")).count()},
		{"How many orders are for express delivery?", "query_records",
			a{"dataset": o, "search": `"express delivery"`, "fields": l("order_id")}, total,
			orders.where(is("note", "express delivery")).count()},
		{"Which are the orders 51 to 55 from Ireland?", "query_records",
			a{"dataset": o, "filters": l("country=IE"), "fields": l("order_id"), "page": 11, "per_page": 5},
			column("order_id"),
			first(orders.where(is("country", "IE"))[50:], "order_id", 5)},
		{"What is the largest amount in the Netherlands?", "aggregate",
			a{"dataset": o, "measures": l("max:amount"), "filters": l("country=NL")}, cell("max:amount"),
			exact(slices.MaxFunc(orders.where(is("country", "NL")).numbers("amount"), (*big.Rat).Cmp))},
		{"How many readings does each station have?", "aggregate", a{"dataset": s, "by": l("station")}, pairs,
			sensors.groups("station", count)},
		{"What is the mean temperature at each station?", "aggregate",
			a{"dataset": s, "by": l("station"), "measures": l("mean:temperature")}, pairs,
			sensors.groups("station", meanOf("temperature"))},
		{"How many readings at the harbour exceed 25,5 degrees?", "query_records",
			a{"dataset": s, "filters": l("station=Harbour", "temperature[gt]=25,5"), "fields": l("at")}, total,
			harbour.where(more("temperature", "25.5")).count()},
		{"How many readings failed?", "query_records", a{"dataset": s, "filters": l("ok=false"), "fields": l("at")},
			total, sensors.where(is("ok", "no")).count()},
		{"How many readings are there per month?", "aggregate", a{"dataset": s, "by": l("at:month")}, pairs,
			months(sensors, "at")},
	}
}
