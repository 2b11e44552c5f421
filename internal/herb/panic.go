package herb

import (
	"fmt"
	"runtime/debug"
)

// PanicError is a panic that was turned into an error. It carries no Code, so that its text never reaches a client.
type PanicError struct {
	Value any    // what was passed to panic
	Stack []byte // of the goroutine that panicked
}

// Error names the panic; the stack is for the log.
func (e *PanicError) Error() string {
	return fmt.Sprintf("internal error, please report it: panic: %v", e.Value)
}

// Recover turns a panic into a *PanicError. It must be deferred itself: defer herb.Recover(&err).
func Recover(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}
