package review_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/publish/review"
	"herbarium/internal/testseed"
	"herbarium/internal/versions"
)

// randomDescriptor returns settings of a live version: keys that may not be unique, expectations
// that may fail, charts, hidden columns and access.
func randomDescriptor(random *rand.Rand) string {
	chance := func() bool { return random.IntN(3) == 0 }
	var own, schema []string
	if chance() {
		own = append(own, fmt.Sprintf(`"expectations":[{"query":"name=plant+1","min":%d},{"query":"","max":%d}]`,
			random.IntN(4), 20+random.IntN(30)))
	}
	if chance() {
		own = append(own, `"charts":[{"by":["name"],"measure":"count"}]`)
	}
	if chance() {
		own = append(own, fmt.Sprintf(`"access":%q`, []string{"open", "key"}[random.IntN(2)]))
	}
	if chance() {
		schema = append(schema, fmt.Sprintf(`"primaryKey":%q`, []string{"id", "name"}[random.IntN(2)]))
	}
	if chance() {
		schema = append(schema, `"uniqueKeys":[["name","day"]]`)
	}
	if chance() {
		schema = append(schema, `"fields":[{"name":"id"},{"name":"name"},{"name":"day"}]`)
	}
	return descriptor(fmt.Sprintf(`"herbarium":{%s},"schema":{%s}`, strings.Join(own, ","), strings.Join(schema, ",")))
}

// TestReview_agrees reviews random files with random edits against random live versions, and
// publishes them, without consent and with it: the publish does what the review says, and nothing
// else.
func TestReview_agrees(t *testing.T) {
	t.Parallel()
	runs := 12
	if testseed.Soak() {
		runs *= 16
	}
	seed := testseed.Seed(t)
	for run := range runs {
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, uint64(run)))
			n := newNode(t, nodeOptions{})
			content := randomTable(random)
			if random.IntN(6) > 0 {
				n.put(prices, "stock.csv", content, randomDescriptor(random), nil) // which may fail
			}
			for range 3 {
				if random.IntN(4) > 0 {
					content = randomTable(random)
				}
				id := n.create("stock.csv", content)
				r := n.review(id)
				if e := randomEdits(random, r); r.Error == "" && random.IntN(4) > 0 {
					r = n.edit(id, e)
				}
				n.wantAgreement(id, r)
			}
		})
	}
}

// wantAgreement publishes a draft and compares what happens with what its review says.
func (n *node) wantAgreement(id string, r review.Review) {
	n.t.Helper()
	if r.Error != "" {
		if _, err := n.reviews.Publish(n.t.Context(), id, versions.PublishOptions{}, r.Live, actor); err == nil ||
			herb.MessageOf(err) != r.Error {
			n.t.Errorf("the review says %q, the publish %v", r.Error, err)
		}
		return
	}
	result := n.publish(id, false, r.Live).Result
	want := versions.StatusPublished
	switch {
	case r.Unchanged:
		want = versions.StatusUnchanged
	case len(versions.RequiredConsents(r.Changes)) > 0:
		want = versions.StatusRejected
	}
	if result.Status != want {
		n.t.Fatalf("the publish is %s: %s; want %s after %+v", result.Status, result.Error, want, r.Changes)
	}
	if result.Status == versions.StatusUnchanged {
		return
	}
	wantChanges := func(got []versions.Change) {
		n.t.Helper()
		got = slices.DeleteFunc(slices.Clone(got),
			func(c versions.Change) bool { return c.Kind == versions.RecordsChanged && !c.Breaking })
		if diff := gocmp.Diff(r.Changes, got, cmpopts.EquateEmpty()); diff != "" {
			n.t.Errorf("changes (-review +publish):\n%s", diff)
		}
	}
	wantChanges(result.Changes)
	if result.Status == versions.StatusRejected {
		result = n.publish(id, true, r.Live).Result
		if result.Status != versions.StatusPublished {
			n.t.Fatalf("with consent, the publish is %s: %s", result.Status, result.Error)
		}
		wantChanges(result.Changes)
	}
	var fields []string
	for _, c := range r.Columns {
		if c.Field != "" {
			fields = append(fields, fmt.Sprint(c.Field, " ", c.Type, " ", c.Title))
		}
	}
	var published []string
	for _, f := range result.Fields {
		published = append(published, fmt.Sprint(f.Name, " ", f.Type, " ", f.Title))
	}
	slices.Sort(fields)
	slices.Sort(published)
	live, err := n.library.LiveVersion(n.t.Context(), prices)
	if result.InferredKey { // which the review proposes
		result.PrimaryKey = nil
	}
	if err != nil || live.Version != result.Version || result.Records != r.Records ||
		!slices.Equal(fields, published) || !slices.Equal(r.Key, result.PrimaryKey) ||
		live.Access != r.Access || live.Title != r.Title {
		n.t.Errorf("the review says %d records, fields %v, key %v, access %s, title %q; published: %d, %v, %v, %s, "+
			"%q, %v",
			r.Records, fields, r.Key, r.Access, r.Title, result.Records, published, result.PrimaryKey, live.Access,
			live.Title, err)
	}
}
