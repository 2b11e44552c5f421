package review

import (
	"container/list"
	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/versions"
	"time"
)

// finding is what an inspection of a draft with some settings has found.
type finding struct {
	key    string
	err    error // why the file cannot be published with them; the rest is what it looks like without a schema
	tables []string
	// encodings are those of Review.Encodings; nil: they were not needed.
	encodings []rows.EncodingSample
	encoding  string    // in which the file was read
	contents  *contents // nil: nothing could be read
	// check is what the publish would do; nil if only the rows were read, which other edits refer
	// to, or there is an error.
	check *versions.Result
	// renamed are the names of fields by their names without the edits of columns.
	renamed map[string]string
}

// isComplete reports whether it is known what the publish would do.
func (f *finding) isComplete() bool { return f.check != nil || f.err != nil }

// errUnknown reports that the file must be read to know what the edits mean, or whether it can be
// published with them.
var errUnknown error = &herb.Error{
	Code: herb.CodeUnavailable, Message: "the file is still being read; wait for its review and try again",
	RetryAfter: 2 * time.Second,
}

// knownContents returns what inspections have shown. The error is errUnknown if the file must be
// read.
func (s *Service) knownContents(id string) func(*plan) (*contents, error) {
	return func(p *plan) (*contents, error) {
		if f := s.finding(id, p.key()); f != nil {
			return f.usable()
		}
		return nil, errUnknown
	}
}

// usable returns the contents, or why there are none.
func (f *finding) usable() (*contents, error) {
	if f.contents == nil {
		return nil, f.err
	}
	return f.contents, nil
}

// known returns what an inspection has found about a draft as it is now; nil if it must be read.
func (s *Service) known(id string, r *storedDraft, live herb.Dataset) *finding {
	contentsOf := s.knownContents(id)
	p, err := s.planOf(r, live, contentsOf)
	if err == nil {
		f := s.finding(id, p.key())
		switch {
		case f == nil || !f.isComplete():
			return nil
		case f.contents != nil || !r.Edits.refersToFile():
			return f
		}
		err = f.err
	}
	if !isAboutFile(err) {
		return nil
	}
	f, err := s.withoutEdits(id, r, live, contentsOf, func(*plan) (*finding, error) { return nil, errUnknown }, err)
	if err != nil {
		return nil
	}
	return f
}

// withoutEdits returns what the file looks like without the edits of columns, or without all edits
// if those of rows do not fit either. cause is why the edits are not possible. inspect reads the
// file if that is unknown.
func (s *Service) withoutEdits(
	id string, r *storedDraft, live herb.Dataset, contentsOf func(*plan) (*contents, error),
	inspect func(*plan) (*finding, error), cause error,
) (*finding, error) {
	shown := finding{err: cause}
	for _, edits := range []Edits{r.Edits.ofRows(), {Table: r.Edits.Table}} {
		less := *r
		less.Edits = edits
		p, err := s.planOf(&less, live, contentsOf)
		if isAboutFile(err) { // or the settings of the live version cannot be used
			continue
		}
		if err != nil {
			return nil, err
		}
		found := s.finding(id, p.key())
		if found == nil {
			found, err = inspect(p)
			if err != nil {
				return nil, err
			}
		}
		shown = *found
		shown.err = cause
		if shown.contents != nil {
			break
		}
	}
	return &shown, nil
}

// finding returns what an inspection of a draft with settings has found; nil if it is not in
// memory. An empty key means any settings.
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
