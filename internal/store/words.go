package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// SearchWords returns the words by which a dataset is found in the catalogue, each after a line feed: those of its names, its
// title, its description, its keywords and its fields. The keywords of a dataset that requires a key are not public.
func SearchWords(d herb.Dataset) string {
	texts := []string{d.Namespace, d.Name, d.Title, d.Description}
	var descriptor struct{ Package, Resource map[string]json.RawMessage }
	if d.Access != herb.AccessKey && json.Unmarshal(d.Descriptor, &descriptor) == nil {
		for _, members := range []map[string]json.RawMessage{descriptor.Package, descriptor.Resource} {
			var keywords []string
			_ = json.Unmarshal(members["keywords"], &keywords) // malformed ones are ignored
			texts = append(texts, keywords...)
		}
	}
	for _, f := range d.Fields {
		texts = append(texts, f.Name, f.Title)
	}
	var words []string
	for _, s := range texts {
		words = text.AppendWords(words, s)
	}
	slices.Sort(words)
	return "\n" + strings.Join(slices.Compact(words), "\n")
}

// MatchesSearch reports whether every word of a search is a prefix of one of the words of a dataset.
func MatchesSearch(words []byte, search []string) bool {
	return !slices.ContainsFunc(search, func(w string) bool { return !bytes.Contains(words, []byte("\n"+w)) })
}

// Search reports for each dataset whether its live version matches the words of a search. It leaves out those whose words are
// not stored.
func (s Tables) Search(ctx context.Context, search []string) (matches map[herb.Ref]bool, err error) {
	err = s.read(ctx, "searching the catalogue", func(ctx context.Context, tx Tx) error {
		matches = map[herb.Ref]bool{}
		_, err := collect(ctx, tx, func(rows *sql.Rows) (_ struct{}, err error) {
			var ref herb.Ref
			var words sql.RawBytes // not copied, because there may be megabytes
			err = rows.Scan(&ref.Namespace, &ref.Name, &words)
			matches[ref] = MatchesSearch(words, search)
			return struct{}{}, err
		}, "SELECT namespace, name, words FROM live_versions JOIN version_words USING (namespace, name, version)")
		return err
	})
	return matches, err
}
