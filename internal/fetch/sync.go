package fetch

import (
	"context"
	"net/url"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// sync stores the fetches of datasets that are new, or whose address or times have changed. What
// is not fetched any more is removed when it is due. At the start of a server, overdue fetches are
// not all due at once.
func (s *Service) sync(ctx context.Context, starting bool) error {
	live, err := s.opts.Live(ctx)
	if err != nil {
		return err
	}
	stored, err := s.opts.Store.Fetches(ctx)
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
		state, err := decodeState(f, now)
		if err != nil {
			return err
		}
		due := v.Fetch.Refresh.Next(now)
		switch {
		case state.Running:
			continue
		case !ok, f.Address != v.Fetch.Address, state.Refresh != "" && state.Refresh != v.Fetch.Refresh:
		case starting && !f.Due.IsZero() && now.Sub(f.Due) > missedAfter && !due.IsZero():
			const longest = 5 * time.Minute
			due = now.Add(s.opts.Jitter(10 * min(due.Sub(now), longest)))
		default:
			continue
		}
		if err := s.opts.Store.AddFetch(ctx, store.Fetch{Ref: v.Ref, Host: hostOf(v.Fetch.Address),
			Address: v.Fetch.Address, Due: due}); err != nil {
			return err
		}
	}
	return nil
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
