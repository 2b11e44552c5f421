package browse

import (
	"context"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/state"
)

// openRow opens the record that a state names by its content hash, if it does. lost is not nil if
// no row of the listing has that content.
func openRow(ctx context.Context, v datasetView, s *state.State) (lost, err error) {
	const maxPages = 10 // of rows with the same filters, which a link chooses to be few
	if s.Row == "" {
		return nil, nil
	}
	lost = herb.Errorf(herb.CodeNotFound,
		"no row of this version has the content that the link was made for; open the version of that time")
	req, err := s.Request(v.Order)
	if herb.CodeOf(err) == herb.CodeInvalid { // the page says why
		return lost, nil
	}
	if err != nil {
		return nil, err
	}
	req.PerPage = query.MaxPerPage
	for req.Page = 1; req.Page <= maxPages; req.Page++ {
		found, err := v.List(ctx, req)
		if err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(found.Records,
			func(record []byte) bool { return state.RowHash(record) == s.Row }); at >= 0 {
			s.OpenRow(req.Offset() + at)
			return nil, nil
		}
		if len(found.Records) < req.PerPage {
			break
		}
	}
	return lost, nil
}
