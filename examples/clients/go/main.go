// Command go lists the prices and names of the fragrant roses page by page, cheapest first.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
)

// listing is a page of records. Every value is text, such as 007.
type listing struct {
	Data []struct{ Price, Title string }
	Meta struct {
		HasNext bool `json:"has_next"`
	}
	Message string // of an error
}

func main() {
	base := cmp.Or(os.Getenv("HERBARIUM_URL"), "http://127.0.0.1:8080")
	query := url.Values{"search": {"rose"}, "tags": {"fragrant"}, "sort": {"price"}, "per_page": {"4"}}
	for page := 1; ; page++ {
		query.Set("page", strconv.Itoa(page))
		found, err := list(base + "/api/v1/garden/catalog/data?" + query.Encode())
		if err != nil {
			log.Fatal(err)
		}
		for _, record := range found.Data {
			fmt.Printf("%s\t%s\n", record.Price, record.Title)
		}
		if !found.Meta.HasNext {
			return
		}
	}
}

// list requests one page.
func list(address string) (found listing, err error) {
	response, err := http.Get(address)
	if err != nil {
		return found, err
	}
	defer response.Body.Close()
	err = json.NewDecoder(response.Body).Decode(&found)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, found.Message)
	}
	return found, err
}
