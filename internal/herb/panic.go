package herb

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a recovered panic. It has no Code, so its text is never sent to clients.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // of the goroutine that panicked
}

// Error returns the panic value; the stack is only logged.
func (e *PanicError) Error() string {
	return fmt.Sprintf("internal error, please report it: panic: %v", e.Value)
}

// Recover converts a panic to a *PanicError. It must be deferred directly: defer herb.Recover(&err).
func Recover(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}
