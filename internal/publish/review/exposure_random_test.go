package review_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/testseed"
)

// randomStaff is a table whose cells are unique, so that each can be recognized wherever it is
// published. Its cells never change; columns are renamed, reordered and left out.
type randomStaff struct {
	random *rand.Rand
	rows   int
	names  []string // of the columns, apart from status
}

// file returns the table with some of its columns, and the names of those.
func (s *randomStaff) file() (content string, names []string) {
	columns := s.random.Perm(len(s.names))
	if s.random.IntN(3) == 0 {
		columns = columns[:len(columns)-1]
	}
	var b strings.Builder
	b.WriteString("status")
	for _, c := range columns {
		names = append(names, s.names[c])
		b.WriteString("," + s.names[c])
	}
	for row := range s.rows {
		b.WriteString("\n" + []string{"public", "draft", "secret"}[row%3])
		for _, c := range columns {
			fmt.Fprintf(&b, ",cell-%d-%d-", c, row)
		}
	}
	return b.String() + "\n", names
}

// descriptor returns settings that hide some of the columns, rows and values.
func (s *randomStaff) descriptor(names []string) string {
	var fields []string
	for _, name := range names {
		switch s.random.IntN(6) {
		case 0, 1:
		case 2: // under the name of another one
			fields = append(fields, fmt.Sprintf(`{"name":"field%d","herbarium":{"from":%q}}`,
				s.random.IntN(1000), name))
		default:
			fields = append(fields, fmt.Sprintf(`{"name":%q,"herbarium":{}}`, name))
		}
	}
	schema := fmt.Sprintf(`"fields":[{"name":"status","herbarium":{}},%s]`,
		strings.Join(append(fields, `{"name":"none"}`), ","))
	include := []string{"", `"include":{"status":["public"]},`, `"include":{"status":["public","draft"]},`,
		`"include":{"status":["draft"]},`}[s.random.IntN(4)]
	access := []string{"open", "open", "open", "key"}[s.random.IntN(4)]
	return descriptor(fmt.Sprintf(`"herbarium":{%s"access":%q},"schema":{%s}`, include, access, schema))
}

// mutate changes the columns of the next file.
func (s *randomStaff) mutate() {
	s.rows += s.random.IntN(4)
	switch i, j := s.random.IntN(len(s.names)), s.random.IntN(len(s.names)); s.random.IntN(4) {
	case 0:
		s.names[i] = fmt.Sprintf("renamed%d", s.random.IntN(1000))
	case 1:
		s.names[i], s.names[j] = s.names[j], s.names[i]
	}
}

// TestExposure_random publishes random files with random settings in all ways, without consent: a
// cell of a file that a version hides is not public in the next one.
func TestExposure_random(t *testing.T) {
	t.Parallel()
	runs := 6
	if testseed.Soak() {
		runs *= 16
	}
	seed := testseed.Seed(t)
	for run := range runs {
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, uint64(run)))
			s := &randomStaff{random: random, rows: 6 + random.IntN(30),
				names: []string{"name", "phone", "mail", "city"}}
			n := newNode(t, nodeOptions{})
			hidden := map[string]bool{} // cells that were in the file of the live version and not public
			published := 0
			var steps []string
			for range 12 {
				content, names := s.file()
				a := attempt{file: content}
				a.Consents, a.Force = []herb.Consent{herb.ConsentBreaking}, random.IntN(2) == 0
				if random.IntN(3) > 0 {
					a.descriptor = s.descriptor(names)
				}
				way := []string{"command", "watch", "PUT", "review"}[random.IntN(4)]
				before, _ := n.library.LiveVersion(t.Context(), prices)
				err := n.ways()[way](a)
				after, _ := n.library.LiveVersion(t.Context(), prices)
				steps = append(steps, fmt.Sprintf("%s %s\n%s\n%s", way, a.descriptor, content,
					strings.Split(fmt.Sprint(err), "\n")[0]))
				if (err == nil) != (before.Version != after.Version) && err != nil {
					t.Fatalf("%v, but the live version is another", err)
				}
				if after.Version == "" || before.Version == after.Version {
					s.mutate()
					continue
				}
				published++
				public := n.public()
				for cell := range hidden {
					if strings.Contains(public, cell) {
						t.Fatalf("%s became public:\n%s", cell, strings.Join(steps[max(0, len(steps)-4):], "\n\n"))
					}
				}
				for line := range strings.Lines(content) {
					for cell := range strings.SplitSeq(strings.TrimSpace(line), ",") {
						if strings.HasPrefix(cell, "cell-") && !strings.Contains(public, cell) {
							hidden[cell] = true
						}
					}
				}
				s.mutate()
			}
			if d, err := n.library.LiveVersion(t.Context(), prices); err != nil || published == 0 ||
				!slices.Contains([]herb.Access{herb.AccessOpen, herb.AccessKey}, d.Access) {
				t.Errorf("%d versions, %v", published, err)
			}
		})
	}
}
