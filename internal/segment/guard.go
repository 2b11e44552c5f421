package segment

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// ErrUnexpected is a runtime error, such as an index out of range, while a segment is read. Its cause is either a bug
// or damage that no format check detected; Verify tells which.
var ErrUnexpected = errors.New("internal error or damaged segment")

// runtimeError is an ErrUnexpected with its stack trace, for the log.
type runtimeError struct {
	cause runtime.Error
	stack []byte
}

func (e *runtimeError) Error() string {
	return fmt.Sprintf("%v: %v\n%s", ErrUnexpected, e.cause, e.stack)
}

func (e *runtimeError) Unwrap() []error { return []error{ErrUnexpected, e.cause} }

// guard runs f and converts panics to errors: a bad disk must not end the process.
//
//   - A failed check of the format, and a memory fault inside the mapped file, is ErrCorrupt.
//   - The end of a query's context is the context's error.
//   - Another runtime error is ErrUnexpected, with a stack trace.
func (r *Reader) guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case canceled:
			err = p.err
		case corruption:
			err = fmt.Errorf("%w: %w", ErrCorrupt, p.err)
		case runtime.Error:
			if fault, ok := p.(interface{ Addr() uintptr }); ok && r.contains(fault.Addr()) {
				err = fmt.Errorf("%w: %w", ErrCorrupt, p)
				return
			}
			err = &runtimeError{cause: p, stack: debug.Stack()}
		default:
			panic(p)
		}
	}()
	return f()
}

// contains reports whether an address is inside the mapped file.
func (r *Reader) contains(addr uintptr) bool {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(r.file)))
	return addr >= start && addr-start < uintptr(len(r.file))
}
