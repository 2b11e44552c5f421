// Package snippets writes programs that read a view: its API call in several languages, and its
// rows as a table for spreadsheets, notebooks and databases. Text from a dataset or a URL enters a
// program only as a literal of its language. Programs read a key from the environment, or ask for
// it, so that copies of them can be shared.
package snippets

// Snippet is a program, or what to enter into one.
type Snippet struct {
	Name string // of the language or the tool
	Note string // where to enter it; empty: it is obvious
	Code string
}

// Call is an API call that returns JSON.
type Call struct {
	URL    string
	Locked bool // it requires a key
	Rows   Rows
}

// Rows is what the member data of a response contains.
type Rows int

const (
	Records Rows = iota
	Counts       // column, row and number of records of a grid
	Groups       // of an aggregate
	Changes      // between two versions
)

// Calls returns programs that make a call.
func Calls(c Call) []Snippet {
	values := map[string]string{"url": quoteJSON(c.URL), "shellurl": quoteShell(c.URL), "row": "map[string]string"}
	switch c.Rows {
	case Counts:
		values["row"] = "[3]int // column, row, number of records"
	case Groups:
		values["row"] = "map[string][]string // by, values"
	case Changes:
		values["row"] = "map[string]any // op, record or key, old and new"
	}
	for _, name := range []string{"shellkey", "jskey", "goimport", "gokey", "pyimport"} {
		values[name] = ""
	}
	values["pyurl"], values["rurl"] = "url = "+values["url"], values["url"]
	if c.Locked {
		values["shellkey"] = "-H \"X-API-Key: $HERBARIUM_KEY\" \\\n  "
		values["jskey"] = ",\n  { headers: { \"X-API-Key\": process.env.HERBARIUM_KEY } }"
		values["pyimport"] = "import os\n"
		values["pyurl"] = "url = urllib.request.Request(\n    " + values["url"] + ",\n    headers={\"X-API-Key\": os.environ[\"HERBARIUM_KEY\"]},\n)"
		values["goimport"] = "\n\t\"os\""
		values["gokey"] = "\n\treq.Header.Set(\"X-API-Key\", os.Getenv(\"HERBARIUM_KEY\"))"
		values["rurl"] = "url(\n  " + values["url"] + ",\n  headers = c(\"X-API-Key\" = Sys.getenv(\"HERBARIUM_KEY\"))\n)"
	}
	return []Snippet{
		{Name: "curl", Code: code(`curl {shellkey}{shellurl}`, values)},
		{Name: "JavaScript", Code: code(javaScript, values)},
		{Name: "Python", Code: code(python, values)},
		{Name: "Go", Code: code(golang, values)},
		{Name: "R", Code: code(rJSON, values)},
	}
}

const javaScript = `const response = await fetch(
  {url}{jskey}
);
const body = await response.json();
if (!response.ok) throw new Error(body.message);
console.log(body.meta.total, "records", body.data);`

const python = `import json
{pyimport}import urllib.request

{pyurl}
with urllib.request.urlopen(url) as response:
    listing = json.load(response)
print(listing["meta"]["total"], "records")
for record in listing["data"]:
    print(record)`

const golang = `package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"{goimport}
)

func main() {
	req, err := http.NewRequest(http.MethodGet, {url}, nil)
	if err != nil {
		log.Fatal(err)
	}{gokey}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	var listing struct {
		Data    []{row}
		Meta    struct{ Total int }
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

const rJSON = `library(jsonlite)

listing <- fromJSON({rurl})
listing$meta$total
head(listing$data)`
