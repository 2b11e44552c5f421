package versions_test

import (
	"context"
	"errors"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

var (
	ref    = versionstest.Prices
	fields = versionstest.Fields
)

func TestPublish_failureChangesNothing(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := s.Open(t)
	before := versionstest.Publish(t, l, 3)
	left := s.Files(t)
	broken := errors.New("the file broke off")
	prices := herb.Dataset{Ref: ref, Fields: fields}
	r, err := l.Publish(t.Context(), versions.Publication{Dataset: prices, Records: versionstest.Numbers(9, broken)})
	if !errors.Is(err, broken) || r.Status != versions.StatusFailed || r.Version != "" || !r.Published.IsZero() {
		t.Errorf("got %+v, %v; want the error of the source, and no version", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Publish(ctx,
		versions.Publication{Dataset: prices, Records: versionstest.Numbers(9, nil)}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("got %v; want context.Canceled", err)
	}
	got := versionstest.Acquire(t, l)
	if got.Version != before.Version || versionstest.Total(t, got) != 3 {
		t.Errorf("version %s is live; want %s", got.Version, before.Version)
	}
	if now := s.Files(t); len(now) != len(left) {
		t.Errorf("files %v; want %v", now, left)
	}
}

func TestPublish_notOverThePlants(t *testing.T) {
	t.Parallel()
	l := versionstest.NewSharedDir(t).Open(t)
	_, err := l.Publish(t.Context(), versions.Publication{
		Dataset: herb.Dataset{Ref: herb.PlantsRef, Fields: fields}, Records: versionstest.Numbers(1, nil),
	})
	if herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("Publish: %v; want it rejected", err)
	}
	if err := l.Remove(t.Context(), herb.PlantsRef, ""); herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("Remove: %v; want it rejected", err)
	}
}
