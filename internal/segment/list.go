package segment

import (
	"context"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/guard"
)

// List returns the requested page. Its records point into the map.
func (r *Reader) List(ctx context.Context, q *query.Request) (page query.Page, err error) {
	err = r.evaluate(ctx, q, forListing, nil, func(m *matches) error {
		page = query.Page{Total: m.len(), Records: m.records(m.pageRange())}
		return nil
	})
	return page, err
}

// pageRange returns the positions of the records on the requested page.
func (m *matches) pageRange() (from, to int) {
	from = min(m.q.Offset(), m.len())
	return from, min(from+m.q.PerPage, m.len())
}

// records returns the records at positions [from, to) in the order of the request.
func (m *matches) records(from, to int) [][]byte {
	page := make([][]byte, to-from)
	for i, n := range m.locate(from, to) {
		page[i] = m.r.records.JSON(n)
		prefault(m.steps, page[i])
	}
	return page
}

// prefault reads from every memory page of a record, so that a fault in the map occurs here, where
// it is converted to an error, and not while the record is sent. The result must be used, or the
// compiler removes the reads.
func prefault(st *guard.Steps, record []byte) {
	const memoryPage = 4096
	const stepsPerPage = 16 // to decode or copy what is read
	zero := false
	for at := 0; at < len(record); at += memoryPage {
		st.Add(stepsPerPage)
		zero = zero || record[at] == 0
	}
	if zero || record[0] != '{' || record[len(record)-1] != '}' {
		guard.Corrupt("a record is not an object")
	}
}
