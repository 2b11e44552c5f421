package httpapi_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// TestExceptions publishes prices of which some are words, and checks that they are listed as
// written, sorted last, found by equality, and neither compared nor calculated with.
func TestExceptions(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	var file strings.Builder
	file.WriteString("id,price\n")
	for i := range 40 {
		price := fmt.Sprint(i)
		switch i {
		case 3, 30:
			price = "on request"
		case 4:
			price = "sold out"
		case 5:
			price = "NA"
		}
		fmt.Fprintf(&file, "%d,%s\n", i, price)
	}
	if a := p.put(t, "", file.String()); a.status != 201 ||
		!strings.Contains(a.body, "3 exceptions (on request: 2, sold out: 1)") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	get := func(path string) string { return p.do(t, request("GET", pricesPath+path, "")).body }
	ids := func(query string) string {
		var all []string
		for _, m := range regexp.MustCompile(`"id":"(\d+)"`).FindAllStringSubmatch(get("/data?per_page=100&"+query),
			-1) {
			all = append(all, m[1])
		}
		return strings.Join(all, " ")
	}
	for query, want := range map[string]string{
		"price[gt]=37":                        "38 39",
		"price[lt]=3":                         "0 1 2",
		"price[lte]=7":                        "0 1 2 6 7",
		"price=on%20request":                  "3 30",
		"price=on%20request&price=sold%20out": "3 4 30",
		"price[in]=sold%20out,38":             "4 38",
		"price[empty]=true":                   "3 4 5 30",
		"price[gt]=36&sort=-price":            "39 38 37",
		"id[in]=2,3,4,5,7&sort=price":         "2 7 5 3 4",
		"id[in]=2,3,4,5,7&sort=-price":        "7 2 5 3 4",
	} {
		if got := ids(query); got != want {
			t.Errorf("%s finds %s; want %s", query, got, want)
		}
	}
	if a := p.do(t, request("GET", pricesPath+"/data?price[gt]=on%20request", "")); a.status != 400 {
		t.Errorf("a range of exceptions gives %d %s", a.status, a.body)
	}
	for path, want := range map[string]string{
		"/data?id=3":             `"price":"on request"`,
		"/data?id=3&_typed=true": `"price":null`,
		"/aggregate?_measure=sum:price&_measure=max:price&_measure=filled:price": `"738","39","36"`,
		"/facets?field=price": `"empty":4`,
		"":                    `"exceptions":[{"value":"on request","count":2},{"value":"sold out","count":1}]`,
	} {
		if got := get(path); !strings.Contains(got, want) {
			t.Errorf("%s gives %.2000s; want %s", path, got, want)
		}
	}
}
