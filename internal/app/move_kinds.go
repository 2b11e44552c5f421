package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// values yields a slice.
func values[T any](all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range all {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// numberedPlant is a plant and its number in the order of creation.
type numberedPlant struct {
	n int
	herb.NewPlant
}

// plants yields the first plants of a side, and tells how far it is in a phase; empty: it does not.
func (m *mover) plants(ctx context.Context, s side, count int, phase string) iter.Seq2[numberedPlant, error] {
	return func(yield func(numberedPlant, error) bool) {
		for n := 0; n < count; {
			some, err := s.store.PlantsAfter(ctx, n, min(atOnce, count-n))
			if err != nil || len(some) == 0 {
				if err != nil {
					yield(numberedPlant{}, err)
				}
				return
			}
			for _, p := range some {
				n++
				if !yield(numberedPlant{n, p}, nil) {
					return
				}
			}
			if phase != "" {
				m.steps.update(phase, func(p *Progress) { p.Done, p.Total, p.Records = int64(n), int64(count), n })
			}
		}
	}
}

func plantKind() kind[numberedPlant] {
	var buf []byte
	show := func(p numberedPlant) string {
		s := fmt.Sprintf("id %d, name %q", p.ID, p.Name)
		if p.Tag != nil {
			s += fmt.Sprintf(", tag %q", *p.Tag)
		}
		return s
	}
	return kind[numberedPlant]{
		order: func(a, b numberedPlant) int { return cmp.Compare(a.n, b.n) },
		encode: func(p numberedPlant) []byte {
			buf = binary.AppendVarint(buf[:0], p.ID)
			buf = appendText(buf, p.Name)
			if p.Tag == nil {
				return append(buf, 0)
			}
			return appendText(append(buf, 1), *p.Tag)
		},
		name: func(p numberedPlant) string { return "plant " + strconv.Itoa(p.n) },
		show: func(a, b numberedPlant) string {
			return fmt.Sprintf("(%s) in the source, (%s) in the target", show(a), show(b))
		},
	}
}

// appendText appends a text so that two of them are not taken for one.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// retries yields the retry keys of a side.
func retries(ctx context.Context, s side, span store.RetrySpan) iter.Seq2[store.UsedRetry, error] {
	return func(yield func(store.UsedRetry, error) bool) {
		for after := (store.Retry{}); ; {
			some, err := s.store.RetriesAfter(ctx, span, after, atOnce)
			if err != nil || len(some) == 0 {
				if err != nil {
					yield(store.UsedRetry{}, err)
				}
				return
			}
			for _, r := range some {
				if !yield(r, nil) {
					return
				}
				after = r.Retry
			}
		}
	}
}

func retryKind() kind[store.UsedRetry] {
	return kind[store.UsedRetry]{
		order: func(a, b store.UsedRetry) int {
			return cmp.Or(strings.Compare(a.Credential, b.Credential), strings.Compare(a.Key, b.Key))
		},
		encode: func(r store.UsedRetry) []byte {
			b := appendText(appendText(nil, r.Credential), r.Key)
			b = binary.AppendVarint(append(b, r.Body[:]...), int64(r.Plant))
			return binary.AppendVarint(b, r.Created.UnixMicro())
		},
		name: func(r store.UsedRetry) string {
			return fmt.Sprintf("the idempotency key %q of credential %q", r.Key, r.Credential)
		},
		show: func(a, b store.UsedRetry) string {
			return fmt.Sprintf("it made plant %d at %s in the source, plant %d at %s in the target", a.Plant,
				a.Created.Format(time.RFC3339), b.Plant, b.Created.Format(time.RFC3339))
		},
	}
}

// portable is a text as every database can keep it: PostgreSQL has no NUL in it.
func portable(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }

// encodeKey leaves out when a key was used, which goes on while it is moved, and when it was revoked, if it was: somebody
// may have been careful and have done it on both sides.
func encodeKey(k herb.Key) []byte {
	k.Name, k.LastUsed = portable(k.Name), time.Time{}
	if !k.Revoked.IsZero() {
		k.Revoked = time.Unix(0, 0).UTC()
	}
	return mustJSON(k)
}

func keyKind() kind[herb.Key] {
	return kind[herb.Key]{
		order:  byID,
		encode: encodeKey,
		name:   func(k herb.Key) string { return fmt.Sprintf("key %s (%s)", k.ID, k.Name) },
		show: func(a, b herb.Key) string {
			if a.Revoked.IsZero() != b.Revoked.IsZero() {
				in, out := "source", "target"
				if a.Revoked.IsZero() {
					in, out = out, in
				}
				return fmt.Sprintf("it is revoked in the %s and not in the %s", in, out)
			}
			return "it has another name, hash, scopes or time on each side"
		},
	}
}

// encodeVersion writes all that is known of a version.
func encodeVersion(d herb.Dataset) []byte {
	d.Title, d.Description = portable(d.Title), portable(d.Description)
	return mustJSON(d)
}

func encodeChronicle(c store.Chronicle) []byte {
	b := appendText(appendText(nil, c.Ref.String()), c.Live)
	for _, d := range c.Versions {
		b = appendText(b, string(encodeVersion(d)))
	}
	return b
}

func chronicleKind() kind[store.Chronicle] {
	return kind[store.Chronicle]{
		order:  byRef,
		encode: encodeChronicle,
		name:   func(c store.Chronicle) string { return "dataset " + c.Ref.String() },
		show: func(a, b store.Chronicle) string {
			if !slices.Equal(a.Names(), b.Names()) {
				return fmt.Sprintf("its versions are %s in the source and %s in the target",
					strings.Join(a.Names(), ", "), strings.Join(b.Names(), ", "))
			}
			if a.Live != b.Live {
				return fmt.Sprintf("version %s is live in the source and %s in the target", a.Live, b.Live)
			}
			for i := range a.Versions {
				if x, y := encodeVersion(a.Versions[i]), encodeVersion(b.Versions[i]); !bytes.Equal(x, y) {
					return fmt.Sprintf("version %s: %s", a.Versions[i].Version, firstDifference(x, y))
				}
			}
			return "it is the same"
		},
	}
}

// find returns a version that a chronicle has.
func find(c store.Chronicle, version string) herb.Dataset {
	return c.Versions[slices.Index(c.Names(), version)]
}

// firstDifference shows where two texts differ first.
func firstDifference(a, b []byte) string {
	const before, most = 20, 60
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	part := func(s []byte) string {
		return strings.ToValidUTF8(string(s[max(0, i-before):min(len(s), i+most)]), "")
	}
	return fmt.Sprintf("…%s… in the source, …%s… in the target", part(a), part(b))
}

// mustJSON writes what can always be written.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
