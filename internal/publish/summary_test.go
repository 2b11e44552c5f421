package publish_test

import (
	"errors"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/publish"
)

// TestNewSummary_report checks that a publish that has failed before its listing was read has no
// report, and that others have theirs.
func TestNewSummary_report(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cells   string
		failure error
		want    bool
	}{
		"published":      {"sha256:ab", nil, true},
		"ended early":    {"", errors.New("the server is stopping"), false},
		"rejected later": {"sha256:ab", &herb.Error{Code: herb.CodeRejected, Message: "breaking"}, true},
	} {
		var r publish.Result
		r.Dataset.Report = &herb.Report{Cells: c.cells}
		if got := publish.NewSummary(herb.Ref{Namespace: "a", Name: "b"}, r, c.failure, false); (got.Report != nil) != c.want {
			t.Errorf("%s: the report is %v", name, got.Report)
		}
	}
}
