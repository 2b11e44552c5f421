package build

import (
	"errors"
	"sync"
	"unsafe"
)

// tables allocates the tables of a build that have an item for each distinct word. Up to a limit
// they are on the heap, then in mapped files without names, which the system writes to the disk if
// memory is short: no limit on words is necessary, and the private memory of a build is bounded.
type tables struct {
	dir   string
	limit int // bytes on the heap

	mu     sync.Mutex
	heap   int // bytes on the heap
	mapped map[*byte][]byte
	fail   func(error) // cancels the build
}

// newTable returns a table of n zeros.
func newTable[T byte | uint16 | uint32 | uint64](t *tables, n int) []T {
	var item T
	size := n * int(unsafe.Sizeof(item))
	if b := t.alloc(size); b != nil {
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
	}
	return make([]T, n)
}

// freeTable releases a table that newTable returned.
func freeTable[T byte | uint16 | uint32 | uint64](t *tables, table []T) {
	if cap(table) == 0 {
		return
	}
	var item T
	t.free((*byte)(unsafe.Pointer(unsafe.SliceData(table))), cap(table)*int(unsafe.Sizeof(item)))
}

// alloc returns a mapped file, or nil if the table belongs on the heap.
func (t *tables) alloc(size int) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heap+size > t.limit && size > 0 {
		b, err := mapScratch(t.dir, size)
		if err != nil {
			t.fail(err)
		}
		if b != nil {
			t.mapped[&b[0]] = b
			return b
		}
	}
	t.heap += size
	return nil
}

func (t *tables) free(start *byte, size int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b, ok := t.mapped[start]; ok {
		delete(t.mapped, start)
		if err := unmapScratch(b); err != nil {
			t.fail(err)
		}
		return
	}
	t.heap -= size
}

// close releases all mapped files.
func (t *tables) close() (err error) {
	for _, b := range t.mapped {
		err = errors.Join(err, unmapScratch(b))
	}
	t.mapped = nil
	return err
}
