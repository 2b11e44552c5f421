package query

import (
	"iter"

	"herbarium/internal/herb"
)

// Stream is the whole answer to a request, whatever page it names, as an engine gives it out record by record.
type Stream struct {
	Total int // records that meet the request
	// Records yields them in the order of the request, each a JSON object whose bytes are good until the next one. An
	// error ends the sequence.
	Records iter.Seq2[[]byte, error]
}

// RefusePages returns an error if a raw query asks for a page: what answers with the whole result has none. As in a
// listing, an empty value counts as absent.
func RefusePages(raw string) error {
	ps, err := ParseParams(raw)
	if err != nil {
		return err
	}
	for _, p := range ps {
		if (p.Name == ParamPage || p.Name == ParamPerPage) && p.Value != "" {
			return herb.Invalidf("%q is given, but an export has no pages: it is the whole result; leave %q out", p.Name, p.Name)
		}
	}
	return nil
}
