package web

import (
	"strconv"
	"strings"
)

// snippet is a call in a language.
type snippet struct {
	ID, Name, Code string
}

// callFrame renders the API call that yields a page, to be copied, with places for its address and for that of the answer.
// Neither has anything in it that a language would quote.
func callFrame(locked bool) (frame, error) {
	m := newMarks()
	var b strings.Builder
	block := func(class, prefix, code string) {
		b.WriteString(`<div class="` + class + `"><pre tabindex="0"><code>` + prefix + escaped(code) + `</code></pre>` + copyButton + `</div>`)
	}
	block("code one", "GET ", m.of(0))
	b.WriteString("\n<div class=\"languages\">\n")
	for i, s := range snippets(m.of(0), locked) {
		b.WriteString(`<details name="language"`)
		if i == 0 {
			b.WriteString(" open")
		}
		b.WriteString(`><summary>` + s.Name + `</summary>`)
		block("code", "", s.Code)
		b.WriteString("</details>\n")
	}
	b.WriteString(`<details name="language" data-json="` + m.of(1) + `"><summary>JSON</summary><div class="code"><pre tabindex="0"><code><a href="` +
		m.of(1) + `">Open the answer</a></code></pre>` + copyButton + "</div></details>\n</div>")
	return m.cut(b.String())
}

const copyButton = `<button type="button" class="copy js" data-copy hidden>Copy</button>`

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
