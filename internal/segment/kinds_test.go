package segment_test

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"testing"

	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
)

// requestKind is a kind of request: a method of query.Engine.
type requestKind struct {
	name   string
	counts bool // it counts the matching records instead of listing them
	call   func(ctx context.Context, s query.Engine, r *query.Request) (total int, err error)
}

// requestKinds returns the methods of query.Engine, so that a test of all of them includes those
// that will be added. Requests other than listings get the least parameters that are valid.
func requestKinds(t *testing.T) (kinds []requestKind) {
	t.Helper()
	engine := reflect.TypeFor[query.Engine]()
	for i := range engine.NumMethod() {
		method := engine.Method(i)
		if method.Type.NumIn() < 2 {
			continue // describes the fields or the words
		}
		request := method.Type.In(1)
		counts := request != reflect.TypeFor[*query.Request]()
		if counts && request.Elem().NumField() == 0 {
			t.Fatalf("%s has no request", method.Name)
		}
		kinds = append(kinds, requestKind{
			method.Name, counts, func(ctx context.Context, s query.Engine, r *query.Request) (int, error) {
				argument := reflect.ValueOf(r)
				if counts {
					argument = reflect.New(request.Elem())
					complete(argument.Interface())
					argument.Elem().FieldByName("Request").Set(reflect.ValueOf(r))
				}
				out := reflect.ValueOf(s).MethodByName(method.Name).Call(
					[]reflect.Value{reflect.ValueOf(ctx), argument})
				err, _ := out[1].Interface().(error)
				if groups, ok := out[0].Interface().(query.GroupStream); ok {
					return countOf(groups), err
				}
				return int(out[0].FieldByName("Total").Int()), err
			}})
	}
	return kinds
}

// countOf returns the number of records of the only group, which its measure counts.
func countOf(s query.GroupStream) (n int) {
	if s.Rows == nil {
		return 0
	}
	defer s.Release()
	for row, err := range s.Rows {
		if err == nil {
			n, _ = strconv.Atoi(row.Values[0])
		}
	}
	return n
}

// complete sets the parameters that a request needs.
func complete(request any) {
	switch r := request.(type) {
	case *query.GridRequest:
		r.Columns, r.Rows, r.Bounds = 1, 1, query.Bounds{MaxX: 1, MaxY: 1}
	case *query.AggregateRequest:
		r.Measures, r.Returned, r.Top = []query.Measure{{Kind: query.MeasureCount, Field: -1}}, 1, 1
	}
}

// TestEveryKind checks that every kind of request ends with its context, and that those that count
// report it before they work.
func TestEveryKind(t *testing.T) {
	t.Parallel()
	r := openCancelSegment(t)
	q := &query.Request{Page: 1, PerPage: 1}
	for _, kind := range requestKinds(t) {
		if total, err := kind.call(t.Context(), r, q); err != nil || total != cancelRecords {
			t.Errorf("%s: %d records, %v", kind.name, total, err)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := kind.call(canceled, r, q); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, canceled: %v", kind.name, err)
		}
		p := segmenttest.Pacer{Err: errors.New("rejected")}
		_, err := kind.call(query.WithPacer(t.Context(), &p), r, q)
		if rejected := errors.Is(err, p.Err); rejected != kind.counts || rejected && p.Yields != 1 || p.Held != 0 {
			t.Errorf("%s, rejected by its pacer: %d reports, %v", kind.name, p.Yields, err)
		}
	}
}
