package web

import (
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// call is the API call that yields a page, to be copied.
type call struct {
	URL      string // absolute
	Path     string // of the listing, with the query
	JSON     string // where the browser reads the same answer with the key that it keeps
	Locked   bool
	Snippets []snippet
}

// snippet is a call in a language.
type snippet struct {
	ID, Name, Code string
}

func (p *Pages) call(r *http.Request, d herb.Dataset, listing params) call {
	path := join(pathAPI+d.Ref.String()+"/data", listing.encode())
	c := call{
		URL: p.origin(r) + path, Path: p.base + path, Locked: d.Access == herb.AccessKey,
		JSON: join(p.datasetPath(d.Ref)+"/data", listing.encode()),
	}
	c.Snippets = snippets(c.URL, c.Locked)
	return c
}

// html writes the call as part of a page, by hand as the table is.
func (c *call) html() template.HTML {
	b := make([]byte, 0, 8<<10)
	block := func(class, prefix, code string) {
		b = append(b, `<div class="`+class+`"><pre tabindex="0"><code>`+prefix...)
		b = appendEscaped(b, code)
		b = append(b, `</code></pre><button type="button" class="copy js" data-copy hidden>Copy</button></div>`...)
	}
	block("code one", "GET ", c.URL)
	b = append(b, "\n<div class=\"languages\">\n"...)
	for i, s := range c.Snippets {
		b = append(b, `<details name="language"`...)
		if i == 0 {
			b = append(b, " open"...)
		}
		b = append(b, `><summary>`+s.Name+`</summary>`...)
		block("code", "", s.Code)
		b = append(b, "</details>\n"...)
	}
	answer := appendEscaped(nil, c.JSON)
	b = append(b, `<details name="language" data-json="`...)
	b = append(b, answer...)
	b = append(b, `"><summary>JSON</summary><div class="code"><pre tabindex="0"><code><a href="`...)
	b = append(b, answer...)
	b = append(b, `">Open the answer</a></code></pre><button type="button" class="copy js" data-copy hidden>Copy</button></div></details>`...)
	return template.HTML(append(b, "\n</div>"...))
}

// snippets writes a call in each language. Addresses are percent-encoded, so that nothing in them needs quoting; a key
// comes from the environment, so that what is copied can be shared.
func snippets(url string, locked bool) []snippet {
	quoted := strconv.Quote(url)
	pick := func(open, keyed string) string {
		if locked {
			return keyed
		}
		return open
	}
	python := strings.Join([]string{
		pick("import json", "import json\nimport os"),
		"import urllib.request",
		"",
		pick("url = "+quoted,
			"url = urllib.request.Request(\n    "+quoted+",\n    headers={\"X-API-Key\": os.environ[\"HERBARIUM_KEY\"]},\n)"),
		"with urllib.request.urlopen(url) as response:",
		"    listing = json.load(response)",
		"print(listing[\"meta\"][\"total\"], \"records\")",
		"for record in listing[\"data\"]:",
		"    print(record)",
	}, "\n")
	javascript := strings.Join([]string{
		"const response = await fetch(",
		"  " + quoted + pick("", ",\n  { headers: { \"X-API-Key\": process.env.HERBARIUM_KEY } }"),
		");",
		"const body = await response.json();",
		"if (!response.ok) throw new Error(body.message);",
		"console.log(body.meta.total, \"records\", body.data);",
	}, "\n")
	return []snippet{
		{"curl", "curl", "curl " + pick("", "-H \"X-API-Key: $HERBARIUM_KEY\" \\\n  ") + "'" + url + "'"},
		{"javascript", "JavaScript", javascript},
		{"python", "Python", python},
		{"go", "Go", goSnippet(quoted, locked)},
	}
}

func goSnippet(quoted string, locked bool) string {
	imports, key := `	"encoding/json"
	"fmt"
	"log"
	"net/http"
`, ""
	if locked {
		imports += "\t\"os\"\n"
		key = "\treq.Header.Set(\"X-API-Key\", os.Getenv(\"HERBARIUM_KEY\"))\n"
	}
	return `package main

import (
` + imports + `)

func main() {
	req, err := http.NewRequest(http.MethodGet, ` + quoted + `, nil)
	if err != nil {
		log.Fatal(err)
	}
` + key + `	res, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	var listing struct {
		Data []map[string]string
		Meta struct{ Total int }
		Message string // of an error
	}
	if err := json.NewDecoder(res.Body).Decode(&listing); err != nil {
		log.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		log.Fatal(listing.Message)
	}
	fmt.Println(listing.Meta.Total, "records", listing.Data)
}`
}
