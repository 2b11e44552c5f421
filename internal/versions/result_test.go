package versions_test

import (
	"errors"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/versions"
)

// TestResult_Fail checks that a publish that has failed before its listing was read has no report,
// and that others have theirs.
func TestResult_Fail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cells   string
		failure error
		status  versions.Status
		want    bool
	}{
		"ended early": {"", errors.New("the server is stopping"), versions.StatusFailed, false},
		"ended late":  {"sha256:ab", errors.New("the server is stopping"), versions.StatusFailed, true},
		"rejected later": {"sha256:ab", &herb.Error{Code: herb.CodeRejected, Message: "breaking"},
			versions.StatusRejected, true},
	} {
		r := versions.Result{Version: "v1", Report: &herb.Report{Cells: c.cells}}
		r.Fail(herb.Ref{Namespace: "a", Name: "b"}, c.failure)
		if (r.Report != nil) != c.want || r.Status != c.status || r.Dataset != "a/b" || r.Version != "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
