package herb

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// Code classifies an Error. It determines the HTTP status and the exit code of the command line.
type Code string

// Error codes. Errors without a code are CodeInternal.
const (
	CodeInvalid         Code = "invalid"         // invalid request; the message says how to fix it
	CodeUnauthenticated Code = "unauthenticated" // missing or invalid key
	CodeForbidden       Code = "forbidden"       // valid key without the required scope
	CodeRateLimited     Code = "rate_limited"    // too many requests of this kind from one client
	CodeNotFound        Code = "not_found"
	CodeGone            Code = "gone" // existed, and was removed
	CodeMethod          Code = "method_not_allowed"
	CodeRejected        Code = "rejected"              // valid, but it would break consumers or replace other data
	CodePrecondition    Code = "precondition_failed"   // a condition of the request, such as If-Match, does not hold
	CodeRange           Code = "range_not_satisfiable" // no byte of a file is in the ranges that a request asks for
	CodeTooLarge        Code = "too_large"             // larger than the server accepts
	CodeEncoding        Code = "unsupported_encoding"  // a Content-Encoding that the server does not decode
	// a file that cannot be published; the message says where and why
	CodeUnreadable  Code = "unreadable"
	CodeNoSpace     Code = "no_space"    // not enough disk space
	CodeUnavailable Code = "unavailable" // overload, shutdown, or an unavailable dependency
	CodeInternal    Code = "internal"    // internal error; its message is never sent to clients
)

// codeStatus is the HTTP status of the errors with a code.
type codeStatus struct {
	Code   Code
	Status int
}

// codeStatuses returns the codes with their statuses. No two codes have the same status.
func codeStatuses() []codeStatus {
	return []codeStatus{
		{CodeInvalid, 400},
		{CodeUnauthenticated, 401},
		{CodeForbidden, 403},
		{CodeNotFound, 404},
		{CodeMethod, 405},
		{CodeRejected, 409},
		{CodeGone, 410},
		{CodePrecondition, 412},
		{CodeTooLarge, 413},
		{CodeEncoding, 415},
		{CodeRange, 416},
		{CodeUnreadable, 422},
		{CodeRateLimited, 429},
		{CodeInternal, 500},
		{CodeUnavailable, 503},
		{CodeNoSpace, 507},
	}
}

// HTTPStatus returns the HTTP status of the errors with a code.
func (c Code) HTTPStatus() int {
	for _, s := range codeStatuses() {
		if s.Code == c {
			return s.Status
		}
	}
	return CodeInternal.HTTPStatus()
}

// CodeOfStatus returns the code of the errors that a server reports with an HTTP status. The errors
// of a proxy in front of it are CodeUnavailable.
func CodeOfStatus(status int) Code {
	switch status {
	case 502, 504:
		return CodeUnavailable
	}
	for _, s := range codeStatuses() {
		if s.Status == status {
			return s.Code
		}
	}
	return CodeInternal
}

// Error is the error type shared by all packages. Message is safe to send to the client; Err, the
// cause, is only logged.
type Error struct {
	Code    Code
	Message string
	Err     error
	// RetryAfter is when the same request may succeed; zero leaves it to the HTTP server.
	RetryAfter time.Duration
	// Consents are what a publisher may state to have the change made nevertheless. The message
	// does not name them: each interface has its own words, which Advice returns.
	Consents []Consent
	// Place is where the error occurred, such as a path, if the message begins with it.
	Place string
	// Field is the field of a source that the error is about; empty if it is about none.
	Field string
	// Problem is the message without places and without what to do; empty if it is not known.
	Problem string
	// Withdrawn is the version that was asked for, if it was withdrawn.
	Withdrawn *Withdrawn
}

// Error returns the message, followed by the cause if there is one.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error without a cause.
func Errorf(code Code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalidf returns an Error with CodeInvalid.
func Invalidf(format string, args ...any) error {
	return Errorf(CodeInvalid, format, args...)
}

// InvalidAdvice returns an Error with CodeInvalid that says what is wrong and what to do about it.
func InvalidAdvice(problem, advice string) error {
	return &Error{Code: CodeInvalid, Message: problem + "; " + advice, Problem: problem}
}

// At returns an error whose message begins with a place, unless it does so already. Errors without
// a message for clients stay as they are.
func At(place string, err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Place == place {
		return err
	}
	located := *e
	located.Place, located.Message, located.Problem = place, place+": "+e.Message, cmp.Or(e.Problem, e.Message)
	return &located
}

// AtField is At for a field of a source.
func AtField(name string, err error) error {
	err = At(fmt.Sprintf("field %q", name), err)
	if e, ok := errors.AsType[*Error](err); ok {
		e.Field = name
	}
	return err
}

// FieldOf returns the field of a source that an error is about, and what is wrong with it; empty if
// it is about none.
func FieldOf(err error) (name, problem string) {
	if e, ok := errors.AsType[*Error](err); ok && e.Field != "" {
		return e.Field, e.Problem
	}
	return "", ""
}

// Wrap returns an Error with a cause. The message must be safe to send to the client.
func Wrap(code Code, err error, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Err: err}
}

// CodeOf returns the code of the outermost Error in err's chain, or CodeInternal.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// MessageOf returns the message of the outermost Error in err's chain. For other errors it returns
// a generic message, because their text may reveal internals.
func MessageOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Code != CodeInternal {
		return e.Message
	}
	return "internal error"
}

// RetryAfterOf returns the time after which the failed request may be retried, or zero if err does
// not specify it.
func RetryAfterOf(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// Clip returns s, or its first limit characters and an ellipsis if it is longer, for use in a
// message.
func Clip(s string, limit int) string {
	n := 0
	for i := range s {
		n++
		if n > limit {
			return s[:i] + "…"
		}
	}
	return s
}

// PanicError is a recovered panic. It has no Code, so its text is never sent to clients.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // of the goroutine that panicked
}

// Error returns the panic value; the stack is only logged.
func (e *PanicError) Error() string {
	return fmt.Sprintf("internal error, please report it: panic: %v", e.Value)
}

// Recover converts a panic to a *PanicError. It must be deferred directly: defer
// herb.Recover(&err).
func Recover(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}
