package httpapi

import (
	"net/http"
	"slices"
)

// header is one line of the head of an answer.
type header struct{ name, value string }

// headerList holds the headers of an answer that this package sets. A short list costs much less than a map of lists: nothing is
// allocated, hashed or sorted. Names are in canonical form. The zero value is empty.
type headerList struct {
	list [12]header
	n    int
}

// all returns the headers in the order in which they were set.
func (h *headerList) all() []header { return h.list[:h.n] }

func (h *headerList) index(name string) int {
	return slices.IndexFunc(h.all(), func(x header) bool { return x.name == name })
}

// get returns the value of a header, empty if it is not set.
func (h *headerList) get(name string) string {
	if i := h.index(name); i >= 0 {
		return h.list[i].value
	}
	return ""
}

// set sets a header. There is room for all that this package sets; one more is a mistake that a test would find.
func (h *headerList) set(name, value string) {
	i := h.index(name)
	if i < 0 {
		i = h.n
		h.n++
	}
	h.list[i] = header{name, value}
}

func (h *headerList) remove(name string) {
	if i := h.index(name); i >= 0 {
		copy(h.list[i:], h.list[i+1:h.n])
		h.n--
	}
}

// take removes a header and returns its value.
func (h *headerList) take(name string) string {
	value := h.get(name)
	h.remove(name)
	return value
}

// copyTo copies the headers into a map.
func (h *headerList) copyTo(m http.Header) {
	values := make([]string, h.n)
	for i, x := range h.all() {
		values[i] = x.value
		m[x.name] = values[i : i+1 : i+1]
	}
}
