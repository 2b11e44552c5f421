package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/progress"
	"herbarium/internal/publish"
	"herbarium/internal/store"
	"herbarium/internal/versions"
)

const (
	// renewEvery is how often the record of a running publish is compared with the last one that
	// was stored.
	renewEvery = time.Second
	// renewAfter is how long an unchanged record is left alone.
	renewAfter = 5 * time.Second
	// lease is how long a record is valid without being renewed. Clocks of nodes may differ by
	// most of it.
	lease = 30 * time.Second
	// saveTimeout limits the time for storing a record.
	saveTimeout = 10 * time.Second
)

// Record is the state of a publish.
type Record struct {
	ID       string             `json:"id"`
	Dataset  string             `json:"dataset"`
	State    publish.State      `json:"state"`
	Check    bool               `json:"check,omitempty"` // nothing is published
	Created  time.Time          `json:"created_at"`
	Updated  time.Time          `json:"updated_at"`
	Bytes    int64              `json:"bytes"`
	SHA256   string             `json:"sha256"` // of the file
	Progress *progress.Progress `json:"progress,omitempty"`
	Code     herb.Code          `json:"code,omitempty"`   // of the error; empty if there is none
	Result   *versions.Result   `json:"result,omitempty"` // nil until the publish has ended
}

// Ref returns the dataset.
func (r Record) Ref() herb.Ref {
	ref, _ := herb.ParseRef(r.Dataset) // it was checked before
	return ref
}

// Job is a publish that this server runs.
type Job struct {
	service *Service
	request Request
	done    chan struct{}
	ticket  admission.Ticket // has a slot of the lane Publish until the publish has ended

	mu     sync.Mutex
	record Record
	saved  time.Time // when the record was last stored
	dirty  bool      // the record changed since then
}

// Done is closed when the publish has ended.
func (p *Job) Done() <-chan struct{} { return p.done }

// Record returns the current state.
func (p *Job) Record() Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.record
}

// report records the progress of a publish.
func (p *Job) report(a progress.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.record.State, p.dirty = publish.StateOf(a.Phase), true
	p.record.Progress = &a
}

// stored returns the record as it is stored now.
func (p *Job) stored() store.Publish {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.service.opts.Now()
	p.record.Updated = now.UTC().Truncate(time.Millisecond)
	p.saved, p.dirty = now, false
	return storedRecord{p.record, p.request.Actor}.encode(now)
}

// storedRecord is a record with who has sent the file, for the audit log.
type storedRecord struct {
	Record
	Actor herb.Actor `json:"actor,omitzero"`
}

func (r storedRecord) encode(now time.Time) store.Publish {
	content, _ := json.Marshal(r) // it has no values that cannot be encoded
	return store.Publish{ID: r.ID, Running: r.Result == nil, Updated: now, Content: content}
}

// renew stores the record of a publish while it runs, when it changes and every few seconds, until
// the returned function is called. Errors are ignored: the next attempt follows.
func (p *Job) renew(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(renewEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			p.mu.Lock()
			due := p.dirty || p.service.opts.Now().Sub(p.saved) >= renewAfter
			p.mu.Unlock()
			if due {
				_ = p.save(ctx)
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

func (p *Job) save(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	return p.service.opts.Store.UpdatePublish(ctx, p.stored())
}

// end records the result of a publish. If it cannot be stored, clients of other nodes are told that
// the publish failed, and sending the file again tells them that it is unchanged.
func (p *Job) end(result versions.Result, err error) {
	p.mu.Lock()
	if err != nil {
		p.record.Code = herb.CodeOf(err)
	}
	p.record.State, p.record.Progress, p.record.Result = publish.FinalState(result.Status), nil, &result
	p.mu.Unlock()
	if err := p.save(context.Background()); err != nil {
		p.service.opts.Log.Warn("cannot record the result of a publish", "dataset", p.request.Ref.String(), "err", err)
	}
	close(p.done)
}

// Record returns the state of a publish that this or another server runs or has run in the last
// hours. The error has herb.CodeNotFound if there is none.
func (s *Service) Record(ctx context.Context, id string) (Record, error) {
	s.mu.Lock()
	p := s.running[id]
	s.mu.Unlock()
	if p != nil {
		return p.Record(), nil
	}
	stored, err := s.opts.Store.Publish(ctx, id)
	if err != nil {
		return Record{}, err
	}
	if now := s.opts.Now(); stored.Running && now.Sub(stored.Updated) > lease {
		return s.abandon(ctx, stored)
	}
	var r Record
	err = json.Unmarshal(stored.Content, &r)
	return r, err
}

// Wait returns the state of a publish as Record does, after it has ended or a time has passed.
func (s *Service) Wait(ctx context.Context, id string, wait time.Duration) (Record, error) {
	s.mu.Lock()
	p := s.running[id]
	s.mu.Unlock()
	if p != nil && wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-p.done:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return s.Record(ctx, id)
}

// abandon ends a publish whose server has died, and records that in the audit log.
func (s *Service) abandon(ctx context.Context, stored store.Publish) (Record, error) {
	var r storedRecord
	if err := json.Unmarshal(stored.Content, &r); err != nil {
		return Record{}, err
	}
	ended, now := r, s.opts.Now()
	ended.State, ended.Progress, ended.Updated = publish.StateFailed, nil, now.UTC().Truncate(time.Millisecond)
	ended.Code = herb.CodeUnavailable
	ended.Result = &versions.Result{
		Dataset: r.Dataset, Status: versions.StatusFailed, Error: "the server stopped during the publish; nothing has changed; send the file again",
	}
	var entry *herb.AuditEntry
	if !r.Check {
		entry = &herb.AuditEntry{
			Time: now, Action: herb.AuditPublished, Subject: r.Dataset, Result: herb.AuditFailed, Detail: "reason: the server stopped",
		}
	}
	switch ok, err := s.opts.Store.EndPublish(herb.WithActor(ctx, r.Actor), ended.encode(now), stored.Updated, entry); {
	case err != nil:
		return Record{}, err
	case !ok:
		return r.Record, nil // it was renewed meanwhile
	}
	return ended.Record, nil
}

// endAbandoned ends the publishes whose servers have died, so that the audit log has them even if
// their clients do not ask.
func (s *Service) endAbandoned(ctx context.Context) {
	all, err := s.opts.Store.AbandonedPublishes(ctx, s.opts.Now().Add(-lease))
	for _, stored := range all {
		s.mu.Lock()
		_, own := s.running[stored.ID] // not renewed because the database was down
		s.mu.Unlock()
		if !own {
			_, failed := s.abandon(ctx, stored)
			err = errors.Join(err, failed)
		}
	}
	if err != nil && ctx.Err() == nil {
		s.opts.Log.Warn("cannot end publishes of servers that have died; will retry", "err", err)
	}
}
