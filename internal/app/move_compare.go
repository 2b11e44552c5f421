package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"iter"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// kind is one kind of things that are moved: how they are read, told apart and told of.
type kind[T any] struct {
	order  func(a, b T) int    // in which both sides yield them
	encode func(T) []byte      // what must be the same on both sides; it is used until the next call
	name   func(T) string      // such as "plant 3"
	show   func(a, b T) string // how two with the same name differ
}

// walk goes through both sides at once. Where one side lacks something, the other is given alone.
func (k kind[T]) walk(source, target iter.Seq2[T, error], each func(source, target *T) error) error {
	next, stop := iter.Pull2(source)
	defer stop()
	nextInTarget, stopTarget := iter.Pull2(target)
	defer stopTarget()
	a, failA, okA := next()
	b, failB, okB := nextInTarget()
	for okA || okB {
		if err := errors.Join(failA, failB); err != nil {
			return err
		}
		order := 0
		switch {
		case !okB:
			order = -1
		case !okA:
			order = 1
		default:
			order = k.order(a, b)
		}
		var x, y *T
		if order <= 0 {
			x = new(a)
		}
		if order >= 0 {
			y = new(b)
		}
		if err := each(x, y); err != nil {
			return err
		}
		if order <= 0 {
			a, failA, okA = next()
		}
		if order >= 0 {
			b, failB, okB = nextInTarget()
		}
	}
	return nil
}

// differs is the error for the first difference.
func differs(format string, args ...any) error {
	return herb.Errorf(herb.CodeRefused, "source and target differ: "+format, args...)
}

// compare sees to it that what the target has is what the source has too.
func (k kind[T]) compare(source, target iter.Seq2[T, error]) error {
	return k.walk(source, target, func(a, b *T) error {
		switch {
		case b == nil:
			return nil // it will be added
		case a == nil:
			return differs("the target has %s, the source has not", k.name(*b))
		case !bytes.Equal(slices.Clone(k.encode(*a)), k.encode(*b)):
			return differs("%s: %s", k.name(*a), k.show(*a, *b))
		}
		return nil
	})
}

// verify sees to it that both sides have the same, and adds each to the hash of its side.
func (k kind[T]) verify(source, target iter.Seq2[T, error], sums *sums) (n int, err error) {
	err = k.walk(source, target, func(a, b *T) error {
		switch {
		case b == nil:
			return differs("the source has %s, the target has not", k.name(*a))
		case a == nil:
			return differs("the target has %s, the source has not", k.name(*b))
		}
		n++
		first := slices.Clone(k.encode(*a))
		second := k.encode(*b)
		sums.source.Write(first)
		sums.target.Write(second)
		if !bytes.Equal(first, second) {
			return differs("%s: %s", k.name(*a), k.show(*a, *b))
		}
		return nil
	})
	return n, err
}

// sums are the hashes of both sides.
type sums struct{ source, target hash.Hash }

// compare sees to it, before anything is written, that what the target has is part of what the source has.
func (m *mover) compare(ctx context.Context) error {
	if m.target.plants > m.source.plants {
		return differs("the target has %s plants, the source %s; what was created in the target would be lost",
			herb.Count(m.target.plants), herb.Count(m.source.plants))
	}
	keys := slices.Clone(m.source.keys)
	for i, k := range keys {
		// One that was revoked in the source alone will be revoked in the target.
		if j, there := slices.BinarySearchFunc(m.target.keys, k, byID); there && m.target.keys[j].Revoked.IsZero() {
			keys[i].Revoked = time.Time{}
		}
	}
	if err := keyKind().compare(values(keys), values(m.target.keys)); err != nil {
		return err
	}
	if err := plantKind().compare(m.plants(ctx, m.from, m.target.plants, phaseCompare), m.plants(ctx, m.to, m.target.plants, "")); err != nil {
		return err
	}
	span := m.span()
	span.Plants = m.target.plants
	if err := retryKind().compare(retries(ctx, m.from, span), retries(ctx, m.to, span)); err != nil {
		return err
	}
	return m.compareCatalogue()
}

// verify compares everything, as the source had it when the move began, with what the target has now.
func (m *mover) verify(ctx context.Context) (err error) {
	m.steps.update(phaseVerify, func(*Progress) {})
	if m.target, err = take(ctx, m.to.store); err != nil {
		return err
	}
	if m.target.plants != m.source.plants {
		return differs("the source has %s plants, the target %s", herb.Count(m.source.plants), herb.Count(m.target.plants))
	}
	sums := &sums{sha256.New(), sha256.New()}
	if _, err := keyKind().verify(values(m.source.keys), values(m.target.keys), sums); err != nil {
		return err
	}
	for i, k := range m.source.keys {
		if k.LastUsed.After(m.target.keys[i].LastUsed) {
			return differs("key %s was used at %s in the source, last at %s in the target", k.ID,
				k.LastUsed.Format(time.RFC3339), m.target.keys[i].LastUsed.Format(time.RFC3339))
		}
	}
	if _, err := plantKind().verify(m.plants(ctx, m.from, m.source.plants, phaseVerify), m.plants(ctx, m.to, m.source.plants, ""), sums); err != nil {
		return err
	}
	m.moved.Retries, err = retryKind().verify(retries(ctx, m.from, m.span()), retries(ctx, m.to, m.span()), sums)
	if err != nil {
		return err
	}
	if _, err := chronicleKind().verify(values(m.source.catalogue), values(m.target.catalogue), sums); err != nil {
		return err
	}
	for _, version := range m.revived {
		if _, err := sum(ctx, m.to.files, fileName(version)); err != nil {
			return herb.Wrap(herb.CodeUnavailable, err, "the file of version %s was taken away from the target while it was moved; "+
				"run the move again", version)
		}
	}
	source, target := hex.EncodeToString(sums.source.Sum(nil)), hex.EncodeToString(sums.target.Sum(nil))
	if source != target {
		return differs("the hash over everything is %s in the source and %s in the target", source, target)
	}
	m.moved.Hash = "sha256:" + source
	return m.lookBehind(ctx)
}

// lookBehind finds out whether the source has changed since the move began.
func (m *mover) lookBehind(ctx context.Context) error {
	now, err := take(ctx, m.from.store)
	if err != nil {
		return err
	}
	if n := now.plants - m.source.plants; n > 0 {
		m.moved.Behind = append(m.moved.Behind, herb.Count(n)+" plants")
	}
	same := func(a, b herb.Key) bool { return bytes.Equal(encodeKey(a), encodeKey(b)) }
	if !slices.EqualFunc(now.keys, m.source.keys, same) {
		m.moved.Behind = append(m.moved.Behind, "keys")
	}
	if !slices.EqualFunc(now.catalogue, m.source.catalogue, func(a, b store.Chronicle) bool {
		return a.Ref == b.Ref && a.Live == b.Live && slices.Equal(a.Names(), b.Names())
	}) {
		m.moved.Behind = append(m.moved.Behind, "datasets")
	}
	return nil
}

// compareCatalogue sees to it that each dataset of the target is an earlier state of one in the source: the newest version
// it has is in the source as well, and so are all others but those that the source has dropped since. Which one is live is
// for the source to say.
func (m *mover) compareCatalogue() error {
	return chronicleKind().walk(values(m.source.catalogue), values(m.target.catalogue), func(a, b *store.Chronicle) error {
		switch {
		case b == nil:
			return nil
		case a == nil:
			return differs("the target has dataset %s, the source has not; remove it from the target if it is not needed", b.Ref)
		}
		if len(b.Versions) == 0 {
			return nil // so there is nothing to lose
		}
		common := slices.DeleteFunc(b.Names(), func(v string) bool { return !slices.Contains(a.Names(), v) })
		if newest := b.Names()[len(b.Versions)-1]; !slices.Contains(common, newest) {
			return differs("version %s of dataset %s is in the target and not in the source, whose versions are %s; "+
				"remove the dataset from the target if it is not needed", newest, b.Ref, strings.Join(a.Names(), ", "))
		}
		order := slices.DeleteFunc(a.Names(), func(v string) bool { return !slices.Contains(common, v) })
		if !slices.Equal(order, a.Names()[:len(order)]) || !slices.Equal(order, common) {
			return differs("the versions of dataset %s are %s in the source and %s in the target", a.Ref,
				strings.Join(a.Names(), ", "), strings.Join(b.Names(), ", "))
		}
		return sameVersions(*a, *b, common)
	})
}

// sameVersions compares what is said of versions that both sides have. The hash of a file may be missing on one side: it
// was not always written down.
func sameVersions(a, b store.Chronicle, names []string) error {
	for _, name := range names {
		one, other := find(a, name), find(b, name)
		if one.File == nil || other.File == nil {
			one.File, other.File = nil, nil
		}
		if x, y := encodeVersion(one), encodeVersion(other); !bytes.Equal(x, y) {
			return differs("version %s of dataset %s: %s", name, a.Ref, firstDifference(x, y))
		}
	}
	return nil
}
