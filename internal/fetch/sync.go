package fetch

import (
	"context"
	"net/url"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// sync stores the fetches of datasets that are new, or whose source has changed, and removes those
// of datasets that are not fetched any more. At the start of a server, overdue fetches are not all
// due at once.
func (s *Service) sync(ctx context.Context, starting bool) error {
	live, err := s.opts.Live(ctx)
	if err != nil {
		return err
	}
	stored, err := s.opts.Store.Fetches(ctx, herb.Ref{})
	if err != nil {
		return err
	}
	known := map[herb.Ref]store.Fetch{}
	for _, f := range stored {
		known[f.Ref] = f
	}
	now := s.opts.Now()
	for _, v := range live {
		if v.Fetch.Address == "" {
			continue
		}
		f, ok := known[v.Ref]
		delete(known, v.Ref)
		state, err := decodeState(f, now)
		if err != nil {
			return err
		}
		due := v.Fetch.Refresh.Next(now)
		switch {
		case state.Running:
			continue
		case !ok:
			f.Ref = v.Ref
		case state.FetchSource != v.Fetch:
		case starting && !f.Due.IsZero() && now.Sub(f.Due) > missedAfter && !due.IsZero():
			const longest = 5 * time.Minute
			due = now.Add(s.opts.Jitter(10 * min(due.Sub(now), longest)))
		default:
			continue
		}
		if err := s.schedule(ctx, f, v.Fetch, due); err != nil {
			return err
		}
	}
	for ref, f := range known {
		if f.Claimed.After(now) {
			continue
		}
		if err := s.opts.Store.RemoveFetch(ctx, ref); err != nil {
			return err
		}
	}
	return nil
}

// schedule stores the source of a dataset and the time of its next fetch. f is what is stored: the
// zero value, with the dataset, if nothing is. What is known about a file at another address is
// forgotten.
func (s *Service) schedule(ctx context.Context, f store.Fetch, source herb.FetchSource, due time.Time) error {
	state := storedState{}
	if f.Address == source.Address {
		var err error
		state, err = decodeState(f, time.Time{})
		if err != nil {
			return err
		}
	}
	state.FetchSource = source
	f.Host, f.Address, f.Due, f.Content = hostOf(source.Address), source.Address, due, state.encode()
	return s.opts.Store.AddFetch(ctx, f)
}

// hostOf returns the host or the bucket of an address.
func hostOf(address string) string {
	download, _ := herb.DownloadAddress(address)
	u, err := url.Parse(download)
	if err != nil { // it was checked before
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}
