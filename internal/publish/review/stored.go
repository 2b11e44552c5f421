package review

import (
	"context"
	"encoding/json"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
	"herbarium/internal/versions"
)

// storedDraft is a draft as the database keeps it.
type storedDraft struct {
	Ref     string    `json:"ref"`
	Name    string    `json:"name,omitempty"`
	Size    int64     `json:"size"`
	SHA256  string    `json:"sha256"`
	Merged  bool      `json:"merged,omitempty"` // see receive.File
	Created time.Time `json:"created"`
	Edits   Edits     `json:"edits,omitzero"`
	Publish string    `json:"publish,omitempty"`

	owner   string    // ID of the key that sent the file; a column of its own, by which drafts are counted
	updated time.Time // when it was written; a column as well
}

func (r *storedDraft) ref() herb.Ref {
	ref, _ := herb.ParseRef(r.Ref) // it was checked before
	return ref
}

func (r *storedDraft) draft(id string) Draft {
	return Draft{
		ID: id, Ref: r.ref(), Owner: r.owner, Name: r.Name, Size: r.Size, Created: r.Created, Edits: r.Edits,
		Publish: r.Publish,
	}
}

func (r *storedDraft) encode() []byte {
	content, _ := json.Marshal(r) // it has no values that cannot be encoded
	return content
}

func decodeDraft(d store.Draft) (*storedDraft, error) {
	r := storedDraft{owner: d.Owner, updated: d.Updated}
	err := json.Unmarshal(d.Content, &r)
	return &r, err
}

// retention returns how long a draft is kept after its last use, in words.
func retention() string {
	return herb.Plural(int(versions.DraftAge.Hours()), "hour", "hours")
}

func notFound() error {
	return herb.Errorf(herb.CodeNotFound,
		"no such draft; it was published or discarded, or not used for %s; send the file again", retention())
}

// touchAfter is how old a stored draft is before its use is stored.
const touchAfter = 10 * time.Minute

// load returns a stored draft and stores that it was used.
func (s *Service) load(ctx context.Context, id string) (*storedDraft, error) {
	r, err := s.read(ctx, id)
	if err == nil && s.opts.Now().Sub(r.updated) > touchAfter {
		err = s.update(ctx, id, func(*storedDraft) bool { return true })
	}
	return r, err
}

func (s *Service) read(ctx context.Context, id string) (*storedDraft, error) {
	if !store.IsDraftID(id) {
		return nil, notFound()
	}
	d, err := s.opts.Store.Draft(ctx, id)
	switch {
	case herb.CodeOf(err) == herb.CodeNotFound:
		return nil, notFound()
	case err != nil:
		return nil, err
	case !d.Stored || d.Updated.Before(s.expired()):
		return nil, notFound()
	}
	return decodeDraft(d)
}

// next returns the time of a write, which is later than the one before: replacing a draft
// recognizes others by it.
func (s *Service) next(before time.Time) time.Time {
	if now := s.opts.Now(); now.After(before.Add(time.Microsecond)) {
		return now
	}
	return before.Add(time.Microsecond)
}

// update changes a stored draft, unless change returns false. It is called again if another request
// has changed the draft meanwhile.
func (s *Service) update(ctx context.Context, id string, change func(*storedDraft) bool) error {
	const attempts = 10
	for range attempts {
		r, err := s.read(ctx, id)
		if err != nil || !change(r) {
			return err
		}
		d := store.Draft{ID: id, Stored: true, Updated: s.next(r.updated), Content: r.encode()}
		if ok, err := s.opts.Store.ReplaceDraft(ctx, d, r.updated); ok || err != nil {
			return err
		}
	}
	return herb.Errorf(herb.CodeUnavailable, "the draft is being changed by others; try again")
}
