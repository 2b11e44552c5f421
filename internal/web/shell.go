package web

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

// shell is what the pages of a data browser have in common as long as the dataset has the same version: everything around
// the records, and the filters while none is used. Rendering it takes several times as long as finding and writing the
// records, so that it is kept.
type shell struct {
	key      string
	hash     [sha256.Size]byte // of all that it puts around the records
	frame    frame             // the whole page, with places for its parts
	call     frame             // the call behind a page, with places for its address and that of the answer
	columns  []column
	images   bool
	filters  piece                         // while none is used
	parts    map[filterState]template.HTML // each of them, as it is most of the time
	unused   []filter                      // all of them, in the order of the fields
	chooser  template.HTML
	entrance atomic.Pointer[piece] // the whole page that an address without a query leads to, once it was asked for
}

// shells keeps one shell for each dataset and theme.
type shells struct {
	mu   sync.Mutex
	kept map[shellName]*shell
}

type shellName struct {
	ref   herb.Ref
	theme string
}

// maxShells bounds what is kept; past it everything is forgotten.
const maxShells = 200

// shellOf returns the shell of a dataset.
func (p *Pages) shellOf(r *http.Request, snap library.Snapshot) (*shell, error) {
	name := shellName{snap.Ref, themeOf(r)}
	key := snap.Version + "\n" + p.origin(r) + "\n" + string(snap.Access)
	p.shells.mu.Lock()
	kept := p.shells.kept[name]
	p.shells.mu.Unlock()
	if kept != nil && kept.key == key {
		return kept, nil
	}
	made, err := p.newShell(r, p.layout(r, nameOf(snap.Dataset), describe(snap.Dataset)), snap)
	if err != nil {
		return nil, err
	}
	made.key = key
	made.hash = made.sum(p.opts.Version)
	p.shells.mu.Lock()
	defer p.shells.mu.Unlock()
	if len(p.shells.kept) >= maxShells {
		clear(p.shells.kept)
	}
	p.shells.kept[name] = made
	return made, nil
}

func (p *Pages) newShell(r *http.Request, l layout, snap library.Snapshot) (*shell, error) {
	d := snap.Dataset
	s := &shell{}
	for i, f := range d.Fields {
		c := column{Field: f, Index: i, Kind: kindOf(&d, i), Heading: headingOf(f)}
		s.images = s.images || c.Kind == kindImage
		s.columns = append(s.columns, c)
	}
	var err error
	l.Canonical = p.origin(r) + pathDatasets + d.Ref.String()
	if l.JSONLD, err = p.jsonLD(r, d); err != nil {
		return nil, err
	}
	head := p.datasetHead(d, "data")
	head.Unlocked = head.Locked
	places := newMarks()
	swap, err := p.renderSwap(places, head.Path, d.Records)
	if err != nil {
		return nil, err
	}
	page, err := p.execute("browser", "layout", struct {
		Layout layout
		Page   any
	}{l, struct {
		Head datasetHead
		Swap template.HTML
	}{head, swap}})
	if err != nil {
		return nil, err
	}
	if s.frame, err = places.cut(string(page)); err != nil {
		return nil, err
	}
	bare := &state{path: head.Path}
	if err := p.renderFilters(s, &d); err != nil {
		return nil, err
	}
	filters, err := p.filterList(r.Context(), bare, s, snap, nil)
	if err != nil {
		return nil, err
	}
	if s.chooser, err = p.execute("browser", "choices", choices(s.columns, s.shown(bare))); err != nil {
		return nil, err
	}
	if s.call, err = callFrame(d.Access == herb.AccessKey); err != nil {
		return nil, err
	}
	s.filters = piece{[]byte(filters)}
	return s, nil
}

// filterState is a filter without anything typed into it.
type filterState struct {
	field, active int
	open          bool
}

// renderFilters renders the filters that a page has room for, as they are most of the time: closed, opened, and with a value
// chosen.
func (p *Pages) renderFilters(s *shell, d *herb.Dataset) error {
	s.parts = map[filterState]template.HTML{}
	for i, f := range d.Fields {
		if !f.Filterable {
			continue
		}
		fl := newFilter(d, i, nil)
		s.unused = append(s.unused, fl)
		if len(s.unused) > maxFilters {
			continue
		}
		for _, state := range []filterState{{i, 0, false}, {i, 0, true}, {i, 1, true}} {
			fl.Active, fl.Open = state.active, state.open
			part, err := p.execute("browser", "filter", &fl)
			if err != nil {
				return err
			}
			s.parts[state] = part
		}
	}
	return nil
}

// execute renders a part of a page.
func (p *Pages) execute(page, part string, data any) (template.HTML, error) {
	var b bytes.Buffer
	if err := p.templates[page].ExecuteTemplate(&b, part, data); err != nil {
		return "", fmt.Errorf("rendering %s of %s: %w", part, page, err)
	}
	return template.HTML(b.String()), nil
}

// shown returns the columns to show: the chosen ones in the order of the fields, or the first ones.
func (s *shell) shown(st *state) []column {
	if len(st.columns) == 0 {
		return s.columns[:min(len(s.columns), maxColumns)]
	}
	var out []column
	for _, c := range s.columns {
		if slices.Contains(st.columns, c.Name) {
			out = append(out, c)
		}
	}
	return out
}

// choiceList is what the menu of columns offers.
type choiceList struct {
	Choices []choice
	More    int
}

func choices(all, shown []column) choiceList {
	var l choiceList
	k := 0
	for _, c := range all {
		chosen := k < len(shown) && shown[k].Index == c.Index
		if chosen {
			k++
		}
		if chosen || len(l.Choices) < maxChoices {
			l.Choices = append(l.Choices, choice{c.Name, c.Heading, chosen})
		}
	}
	l.More = len(all) - len(l.Choices)
	return l
}
