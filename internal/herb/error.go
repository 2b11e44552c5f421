package herb

import (
	"errors"
	"fmt"
	"time"
)

// Code says what kind of failure an Error is. The HTTP status and the exit code of the command line follow from it.
type Code string

// The codes. A failure that carries none is CodeInternal.
const (
	CodeInvalid         Code = "invalid"         // the request is wrong; the message says how to mend it
	CodeUnauthenticated Code = "unauthenticated" // no key, or one that is not valid
	CodeForbidden       Code = "forbidden"       // a valid key that lacks the scope
	CodeRateLimited     Code = "rate_limited"    // too many requests of this kind from one client
	CodeNotFound        Code = "not_found"
	CodeMethod          Code = "method_not_allowed"
	CodeRefused         Code = "refused"     // what was asked for is understood, and would do harm
	CodeUnavailable     Code = "unavailable" // overload, shutdown, or a part that is away for now
	CodeInternal        Code = "internal"    // a fault of ours; the message never reaches a client
)

// Error is the one error type that carries meaning between packages. Message is written for the person who sent the
// request and is safe to show; Err, the cause, is for the log alone.
type Error struct {
	Code    Code
	Message string
	Err     error
	// RetryAfter is when the same request may succeed; zero leaves it to the HTTP server.
	RetryAfter time.Duration
}

// Error returns the message, followed by the cause where there is one.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error without a cause.
func Errorf(code Code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalidf makes an Error with CodeInvalid, the most frequent one.
func Invalidf(format string, args ...any) error {
	return Errorf(CodeInvalid, format, args...)
}

// Wrap makes an Error out of a cause. The message is what a client may see.
func Wrap(code Code, err error, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Err: err}
}

// CodeOf returns the code of the outermost Error in err's chain, CodeInternal if there is none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// MessageOf returns the message that may be shown to a client: that of the outermost Error, or a plain sentence for a
// failure that is not one, whose text may tell about our insides.
func MessageOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Code != CodeInternal {
		return e.Message
	}
	return "internal error"
}

// RetryAfterOf returns when the request that failed may be sent again; zero if the error does not say.
func RetryAfterOf(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.RetryAfter
	}
	return 0
}
