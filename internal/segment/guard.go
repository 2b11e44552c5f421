package segment

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// guard runs f and turns what a damaged file can cause, a fault in the map or an index out of its bounds, into an error:
// a bad disk must not end the process.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(runtime.Error); !ok {
				panic(p)
			}
			err = fmt.Errorf("%w: %v", ErrCorrupt, p)
		}
	}()
	return f()
}
