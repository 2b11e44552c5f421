package review

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// record is how a draft is stored.
type record struct {
	Ref     string    `json:"ref"`
	Owner   string    `json:"owner"`
	Name    string    `json:"name,omitempty"`
	Size    int64     `json:"size"`
	SHA256  string    `json:"sha256"`
	Created time.Time `json:"created"`
	Edits   Edits     `json:"edits,omitzero"`
	Publish string    `json:"publish,omitempty"`
	// Stages are what the last readings have shown, so that other nodes need not read the file to
	// know what the edits mean. The last one is the newest.
	Stages []stage `json:"stages,omitempty"`

	updated time.Time // when it was written
}

// stage is what a reading of the file has shown.
type stage struct {
	Key   string `json:"key"`             // of the settings
	Valid bool   `json:"valid,omitempty"` // the file can be published with them
	Facts *facts `json:"facts,omitempty"` // nil: nothing could be read
}

// Limits of what is stored about readings.
const (
	maxStages     = 4
	maxStageBytes = 256 << 10
)

func (r *record) ref() herb.Ref {
	ref, _ := herb.ParseRef(r.Ref) // it was checked before
	return ref
}

func (r *record) draft(id string) Draft {
	return Draft{
		ID: id, Ref: r.ref(), Owner: r.Owner, Name: r.Name, Size: r.Size, Created: r.Created, Edits: r.Edits, Publish: r.Publish,
	}
}

func (r *record) encode() []byte {
	content, _ := json.Marshal(r) // it has no values that cannot be encoded
	return content
}

func decodeRecord(content []byte) (*record, error) {
	var r record
	err := json.Unmarshal(content, &r)
	return &r, err
}

// stage returns what the reading with settings has shown; nil if it is not known.
func (r *record) stage(key string) *stage {
	for i := range r.Stages {
		if r.Stages[i].Key == key {
			return &r.Stages[i]
		}
	}
	return nil
}

// addStage adds the result of a reading. It reports whether it was not known.
func (r *record) addStage(s stage) bool {
	if content, _ := json.Marshal(s); r.stage(s.Key) != nil || len(content) > maxStageBytes {
		return false
	}
	r.Stages = append(r.Stages, s)
	r.Stages = r.Stages[max(0, len(r.Stages)-maxStages):]
	return true
}

// prefixOf returns how the IDs of the drafts of a key begin.
func prefixOf(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return store.DraftPrefix + hex.EncodeToString(sum[:4]) + "-"
}

func newID(owner string) string { return prefixOf(owner) + strings.ToLower(rand.Text()) }

// isID reports whether a text has the form of newID.
func isID(id string) bool {
	return regexp.MustCompile(`^` + store.DraftPrefix + `[0-9a-f]{8}-[a-z2-7]{26}$`).MatchString(id)
}

func notFound() error {
	return herb.Errorf(herb.CodeNotFound, "no such draft; it was published or discarded, or not used for 24 hours; send the file again")
}

// touchAfter is how old the record of a draft is before its use is recorded.
const touchAfter = 10 * time.Minute

// load returns the record of a draft and records that it was used.
func (s *Service) load(ctx context.Context, id string) (*record, error) {
	r, err := s.read(ctx, id)
	if err == nil && s.opts.Now().Sub(r.updated) > touchAfter {
		err = s.update(ctx, id, func(*record) bool { return true })
	}
	return r, err
}

func (s *Service) read(ctx context.Context, id string) (*record, error) {
	if !isID(id) {
		return nil, notFound()
	}
	p, err := s.opts.Store.Publish(ctx, id)
	switch {
	case herb.CodeOf(err) == herb.CodeNotFound:
		return nil, notFound()
	case err != nil:
		return nil, err
	case p.Running || p.Updated.Before(s.expired()):
		return nil, notFound()
	}
	r, err := decodeRecord(p.Content)
	if err != nil {
		return nil, err
	}
	r.updated = p.Updated
	return r, nil
}

// next returns the time of a write, which is later than the one before: replacing a record
// recognizes others by it.
func (s *Service) next(before time.Time) time.Time {
	if now := s.opts.Now(); now.After(before.Add(time.Microsecond)) {
		return now
	}
	return before.Add(time.Microsecond)
}

// update changes the record of a draft, unless change returns false. It is called again if another
// one changed the record meanwhile.
func (s *Service) update(ctx context.Context, id string, change func(*record) bool) error {
	const attempts = 10
	for range attempts {
		r, err := s.read(ctx, id)
		if err != nil || !change(r) {
			return err
		}
		p := store.Publish{ID: id, Updated: s.next(r.updated), Content: r.encode()}
		if ok, err := s.opts.Store.ReplacePublish(ctx, p, r.updated); ok || err != nil {
			return err
		}
	}
	return herb.Errorf(herb.CodeUnavailable, "the draft is being changed by others; try again")
}
