package review

import "container/list"

// finding returns what a reading of a draft with settings has found; nil if it is not in memory. An
// empty key means any settings.
func (s *Service) finding(id, key string) *finding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.findings.get(id, key)
}

// maxFindings is the number of findings in memory, which are those of all drafts of a key and more.
// Each takes a few megabytes at most.
const maxFindings = MaxDrafts + 12

// findingCache keeps the findings that were used last. The zero value is empty.
type findingCache struct {
	order list.List // of cachedFinding, the last used one first
}

type cachedFinding struct {
	draft string
	*finding
}

// get returns the finding of a draft with settings. An empty key means any.
func (c *findingCache) get(draft, key string) *finding {
	for e := c.order.Front(); e != nil; e = e.Next() {
		if f := e.Value.(cachedFinding); f.draft == draft && (f.key == key || key == "") {
			c.order.MoveToFront(e)
			return f.finding
		}
	}
	return nil
}

func (c *findingCache) add(draft string, f *finding) {
	c.order.PushFront(cachedFinding{draft, f})
	if c.order.Len() > maxFindings {
		c.order.Remove(c.order.Back())
	}
}

func (c *findingCache) remove(draft string) {
	for e := c.order.Front(); e != nil; {
		next := e.Next()
		if e.Value.(cachedFinding).draft == draft {
			c.order.Remove(e)
		}
		e = next
	}
}
