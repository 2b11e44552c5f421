package postgres_test

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// step is a statement of a recorded program.
type step struct {
	// task of the concurrent program that sent it; empty for the recorded program
	Other   string      `json:"other,omitempty"`
	SQL     string      `json:"sql"`
	Args    []arg       `json:"args,omitempty"`
	Columns []string    `json:"columns,omitempty"` // the name and the type of each
	Rows    [][]*string `json:"rows,omitempty"`    // as text; sorted if the statement does not order them
	Tag     string      `json:"tag"`               // command tag of the server
}

// arg is a value of a statement with its type in Go.
type arg struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// argTypes are the types of values, by their names.
func argTypes() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[int](), reflect.TypeFor[int64](), reflect.TypeFor[float64](), reflect.TypeFor[bool](),
		reflect.TypeFor[string](), reflect.TypeFor[[]byte](), reflect.TypeFor[[]int64](), reflect.TypeFor[[]int32](),
		reflect.TypeFor[[]bool](), reflect.TypeFor[[]string](), reflect.TypeFor[[][]byte](),
	} {
		types[t.String()] = t
	}
	return types
}

func newArg(v any) (arg, error) {
	if valuer, ok := v.(driver.Valuer); ok {
		var err error
		v, err = valuer.Value()
		if err != nil {
			return arg{}, err
		}
	}
	if v == nil {
		return arg{Type: "nil"}, nil
	}
	name := reflect.TypeOf(v).String()
	if argTypes()[name] == nil {
		return arg{}, fmt.Errorf("a value of type %s cannot be recorded", name)
	}
	b, err := json.Marshal(v)
	return arg{Type: name, Value: b}, err
}

func (a arg) value() (any, error) {
	if a.Type == "nil" {
		return nil, nil
	}
	t := argTypes()[a.Type]
	if t == nil {
		return nil, fmt.Errorf("a value of type %s is not known", a.Type)
	}
	v := reflect.New(t)
	err := json.Unmarshal(a.Value, v.Interface())
	return v.Elem().Interface(), err
}

// tape records the statements of a program.
type tape struct {
	other string // task of the concurrent program, while it sends
	on    bool
	steps []step
	err   error
}

func (r *tape) add(statement string, args []any) {
	if !r.on {
		return
	}
	s := step{Other: r.other, SQL: statement}
	for _, v := range args {
		switch v.(type) {
		case pgx.QueryResultFormatsByOID, pgx.QueryExecMode:
			continue // query options of the driver are not recorded
		}
		a, err := newArg(v)
		r.err = errors.Join(r.err, err)
		s.Args = append(s.Args, a)
	}
	r.steps = append(r.steps, s)
}

func (r *tape) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	r.add(data.SQL, data.Args)
	return ctx
}

func (r *tape) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *tape) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	for _, q := range data.Batch.QueuedQueries {
		r.add(q.SQL, q.Arguments)
	}
	return ctx
}

func (r *tape) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (r *tape) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// play sends the statement of a step and returns the step with its results.
func (s step) play(ctx context.Context, conn *pgx.Conn) (step, error) {
	args := []any{pgx.QueryResultFormats{pgx.TextFormatCode}}
	for _, a := range s.Args {
		v, err := a.value()
		if err != nil {
			return s, err
		}
		args = append(args, v)
	}
	s.Columns, s.Rows = nil, nil
	rows, err := conn.Query(ctx, s.SQL, args...)
	if err != nil {
		return s, err
	}
	defer rows.Close()
	for _, f := range rows.FieldDescriptions() {
		name := fmt.Sprint(f.DataTypeOID)
		if t, ok := conn.TypeMap().TypeForOID(f.DataTypeOID); ok {
			name = t.Name
		}
		s.Columns = append(s.Columns, f.Name+" "+name)
	}
	for rows.Next() {
		row := make([]*string, len(s.Columns))
		for i, raw := range rows.RawValues() {
			switch {
			case raw == nil:
			case strings.HasPrefix(s.Columns[i], "epoch "), strings.HasPrefix(s.Columns[i], "batch "):
				row[i] = new("another in each database")
			default:
				row[i] = new(string(raw))
			}
		}
		s.Rows = append(s.Rows, row)
	}
	if !strings.Contains(s.SQL, "ORDER BY") {
		slices.SortFunc(s.Rows, func(a, b []*string) int { return strings.Compare(joined(a), joined(b)) })
	}
	s.Tag = rows.CommandTag().String()
	return s, rows.Err()
}

func joined(row []*string) string {
	var b strings.Builder
	for _, v := range row {
		if v != nil {
			b.WriteString(*v)
		}
		b.WriteByte(0)
	}
	return b.String()
}

// replay runs steps and compares their results with the recording. It calls others for the tasks of
// the concurrent program, or runs their steps if others is nil.
func replay(t *testing.T, address string, steps []step, others func(task string)) {
	t.Helper()
	conn := connect(t, address)
	task := ""
	for i, s := range steps {
		began := s.Other != task
		task = s.Other
		if others != nil && task != "" {
			if began {
				others(task)
			}
			continue
		}
		got, err := s.play(t.Context(), conn)
		if err != nil {
			t.Fatalf("statement %d, %s: %v", i, s.SQL, err)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Errorf("statement %d, %s (-recorded +now):\n%s", i, s.SQL, diff)
		}
	}
}

func readSteps(t *testing.T, path string) (steps []step) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var s step
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s)
	}
	return steps
}

func writeSteps(t *testing.T, path string, steps []step) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, s := range steps {
		if err := e.Encode(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
