// Package guard keeps a query from harming the process: it stops queries whose context is canceled,
// and converts faults of the memory map and failed format checks to errors.
package guard

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// Errors of segments that cannot be read.
var (
	// ErrCorrupt means that the file is damaged.
	ErrCorrupt = errors.New("the segment is damaged")
	// ErrUnexpected is a runtime error, such as an index out of range, while a segment is read. Its
	// cause is either a bug or damage that no format check detected; verifying the file
	// distinguishes them.
	ErrUnexpected = errors.New("internal error or damaged segment")
)

// corruption is the panic value of a failed format check.
type corruption struct{ reason string }

// Corrupt panics because of a failed format check, which Run returns as ErrCorrupt. Queries are
// many nested calls that seldom fail, so they do not return errors.
func Corrupt(format string, args ...any) { panic(corruption{fmt.Sprintf(format, args...)}) }

// failure is the panic value of Fail.
type failure struct{ err error }

// Fail ends a query with an error, which Run returns.
func Fail(err error) { panic(failure{err}) }

// Run calls f, which reads mapped, and converts panics to errors: a bad disk must not end the
// process.
//
//   - A failed format check, and a memory fault inside mapped, is ErrCorrupt.
//   - The error of Fail, such as the end of a query's context, is returned.
//   - Another runtime error is ErrUnexpected, with a stack trace.
func Run(mapped []byte, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.err
		case corruption:
			err = fmt.Errorf("%w: %s", ErrCorrupt, p.reason)
		case runtime.Error:
			if fault, ok := p.(interface{ Addr() uintptr }); ok && contains(mapped, fault.Addr()) {
				err = fmt.Errorf("%w: %w", ErrCorrupt, p)
				return
			}
			err = fmt.Errorf("%w: %w\n%s", ErrUnexpected, p, debug.Stack())
		default:
			panic(p)
		}
	}()
	return f()
}

func contains(mapped []byte, addr uintptr) bool {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(mapped)))
	return addr >= start && addr-start < uintptr(len(mapped))
}
