package query_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

func TestRejectPagination(t *testing.T) {
	t.Parallel()
	tests := []struct{ raw, culprit string }{
		{"", ""},
		{"sort=price&order=desc&search=a&category=page", ""},
		{"page=&per_page=", ""},
		{"page[eq]=3", ""},
		{"page=1", "page"},
		{"sort=price&per_page=25", "per_page"},
		{"p%61ge=2", "page"},
		{"page=nonsense", "page"},
	}
	for _, tt := range tests {
		t.Run(tt.raw, func(t *testing.T) {
			t.Parallel()
			err := query.RejectPagination(tt.raw)
			if tt.culprit == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), `"`+tt.culprit+`" is given`) {
				t.Errorf("got %v", err)
			}
		})
	}
	if err := query.RejectPagination("%zz"); herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("a malformed query: %v", err)
	}
}
