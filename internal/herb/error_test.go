package herb_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"herbarium/internal/herb"
)

// TestHTTPStatus checks that clients of the API get the code of an error back from its status.
func TestHTTPStatus(t *testing.T) {
	t.Parallel()
	for code, status := range map[herb.Code]int{
		herb.CodeInvalid: 400, herb.CodeUnauthenticated: 401, herb.CodeForbidden: 403, herb.CodeRateLimited: 429,
		herb.CodeNotFound: 404, herb.CodeGone: 410, herb.CodeMethod: 405, herb.CodeRejected: 409,
		herb.CodeUnavailable: 503, herb.CodeInternal: 500, herb.CodePrecondition: 412, herb.CodeTooLarge: 413,
		herb.CodeUnreadable: 422, herb.CodeEncoding: 415, herb.CodeNoSpace: 507, herb.CodeRange: 416,
	} {
		if got := code.HTTPStatus(); got != status {
			t.Errorf("%s is %d; want %d", code, got, status)
		}
		if got := herb.CodeOfStatus(status); got != code {
			t.Errorf("%d is %s; want %s", status, got, code)
		}
	}
	if got := herb.Code("").HTTPStatus(); got != 500 {
		t.Errorf("an unknown code is %d", got)
	}
	for status, want := range map[int]herb.Code{502: herb.CodeUnavailable, 504: herb.CodeUnavailable,
		418: herb.CodeInternal} {
		if got := herb.CodeOfStatus(status); got != want {
			t.Errorf("%d is %s; want %s", status, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		err            error
		text, shown    string
		code           herb.Code
		isEOF, isError bool
	}{
		{"plain", io.EOF, "EOF", "internal error", herb.CodeInternal, true, false},
		{"invalid", herb.Invalidf("page is %q", "x"), `page is "x"`, `page is "x"`, herb.CodeInvalid, false, true},
		{"other code", herb.Errorf(herb.CodeNotFound, "no %s", "rose"), "no rose", "no rose", herb.CodeNotFound,
			false, true},
		{
			"with a cause", herb.Wrap(herb.CodeUnavailable, io.EOF, "try again in %d s", 5),
			"try again in 5 s: EOF", "try again in 5 s", herb.CodeUnavailable, true, true,
		},
		{
			"wrapped", fmt.Errorf("listing: %w", herb.Wrap(herb.CodeInvalid, io.EOF, "a body is needed")),
			"listing: a body is needed: EOF", "a body is needed", herb.CodeInvalid, true, true,
		},
		{
			"the outermost counts", herb.Wrap(herb.CodeForbidden, herb.Invalidf("inner"), "outer"),
			"outer: inner", "outer", herb.CodeForbidden, false, true,
		},
		{
			"internal is not shown", herb.Wrap(herb.CodeInternal, io.EOF, "/var/lib/secret"),
			"/var/lib/secret: EOF", "internal error", herb.CodeInternal, true, true,
		},
		{
			"internal hides what it wraps", herb.Wrap(herb.CodeInternal, herb.Invalidf("inner"), "outer"),
			"outer: inner", "internal error", herb.CodeInternal, false, true,
		},
		{"joined", errors.Join(io.EOF, herb.Invalidf("wrong")), "EOF\nwrong", "wrong", herb.CodeInvalid, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.err.Error(); got != c.text {
				t.Errorf("Error() = %q, want %q", got, c.text)
			}
			if got := herb.CodeOf(c.err); got != c.code {
				t.Errorf("CodeOf = %q, want %q", got, c.code)
			}
			if got := herb.MessageOf(c.err); got != c.shown {
				t.Errorf("MessageOf = %q, want %q", got, c.shown)
			}
			if got := errors.Is(c.err, io.EOF); got != c.isEOF {
				t.Errorf("the cause is found: %t, want %t", got, c.isEOF)
			}
			if _, got := errors.AsType[*herb.Error](c.err); got != c.isError {
				t.Errorf("it is an Error: %t, want %t", got, c.isError)
			}
		})
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"": "", "rö": "rö", "röt": "röt", "röte": "röt…"} {
		if got := herb.Clip(s, 3); got != want {
			t.Errorf("Clip(%q, 3) = %q; want %q", s, got, want)
		}
	}
}

// TestAt locates an error in a field of a file: its message begins with both places, and its
// members say what is wrong without them.
func TestAt(t *testing.T) {
	t.Parallel()
	located := herb.At("prices.csv", herb.AtField("price", herb.InvalidAdvice(`"x" is not a number`, "fix the value")))
	for range 2 {
		if got, want := herb.MessageOf(located),
			`prices.csv: field "price": "x" is not a number; fix the value`; got != want {
			t.Errorf("the message is %q, want %q", got, want)
		}
		located = herb.At("prices.csv", located) // a place is added once
	}
	if field, problem := herb.FieldOf(located); field != "price" || problem != `"x" is not a number` {
		t.Errorf("the field is %q, the problem %q", field, problem)
	}
	if field, problem := herb.FieldOf(herb.At("prices.csv", herb.Invalidf("no records"))); field != "" ||
		problem != "" {
		t.Errorf("an error of a file is about the field %q: %q", field, problem)
	}
}
