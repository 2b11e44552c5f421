package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// MoveOptions of a move. The zero value moves everything and tells nobody how far it is.
type MoveOptions struct {
	Check bool // only compare
	// Progress is told how far the move is, from one goroutine at a time. nil: nobody is told.
	Progress func(Progress)
}

// Moved is what came of a move: what both sides have now, and how much of it is new in the target.
type Moved struct {
	Plants, Retries, Keys, Datasets, Versions int
	Bytes                                     int64 // of the files of the versions

	NewPlants, NewKeys, NewFiles int

	Hash   string   // over all plants, retry keys, keys and the catalogue; the same on both sides
	Behind []string // what the source has got since the move began, such as "12 plants"
}

// Move brings everything of one place to another: files, keys, plants with the retry keys they were created under, and
// last the catalogue, so that the target never lists what it does not have. It can be interrupted at any moment and begun
// again. What the target has already is compared; an error of herb.CodeRefused names the first difference, and then
// nothing of it was changed. At the end all of the target is read again and compared.
func Move(ctx context.Context, from, to Place, o MoveOptions) (_ Moved, err error) {
	source, err := openSide(ctx, from, true)
	if err != nil {
		return Moved{}, fmt.Errorf("the source: %w", err)
	}
	defer func() { err = errors.Join(err, source.close()) }()
	target, err := openSide(ctx, to, o.Check)
	if err != nil {
		return Moved{}, fmt.Errorf("the target: %w", err)
	}
	defer func() { err = errors.Join(err, target.close()) }()
	return newMover(source, target, o).run(ctx)
}

// mover moves everything once.
type mover struct {
	from, to side
	steps    *steps
	check    bool
	now      time.Time
	source   inventory // as it was when the move began
	target   inventory
	revived  []string // versions that were retired in the target
	moved    Moved
}

// inventory is what one side has, without what there is much of.
type inventory struct {
	plants    int
	keys      []herb.Key // in the order of their ids
	catalogue []store.Chronicle
}

// The phases of a move.
const (
	phaseCompare   = "comparing what is there"
	phaseFiles     = "moving files"
	phasePlants    = "moving plants"
	phaseCatalogue = "moving keys and datasets"
	phaseVerify    = "verifying"
)

func newMover(from, to side, o MoveOptions) *mover {
	tell := o.Progress
	if tell == nil {
		tell = func(Progress) {}
	}
	all := []string{phaseCompare, phaseFiles, phaseCatalogue, phasePlants, phaseVerify}
	return &mover{from: from, to: to, check: o.Check, steps: &steps{tell: tell, all: all}, now: time.Now()}
}

// run does all steps in their order.
func (m *mover) run(ctx context.Context) (Moved, error) {
	steps := []func(context.Context) error{
		m.look, m.compare, m.revive, m.moveFiles, m.moveKeys, m.movePlants, m.moveRetries, m.moveCatalogue, m.verify,
	}
	if m.check {
		steps = []func(context.Context) error{m.look, m.moveFiles, m.verify}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			if errors.Is(err, store.ErrSuperseded) {
				err = herb.Wrap(herb.CodeUnavailable, err, "somebody else writes to the target; stop that, and run the move again")
			}
			return m.moved, err
		}
	}
	return m.moved, nil
}

// look takes down what both sides have.
func (m *mover) look(ctx context.Context) (err error) {
	m.steps.update(phaseCompare, func(*Progress) {})
	if m.source, err = take(ctx, m.from.store); err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	if m.target, err = take(ctx, m.to.store); err != nil {
		return fmt.Errorf("the target: %w", err)
	}
	m.moved.Plants, m.moved.Keys, m.moved.Datasets = m.source.plants, len(m.source.keys), len(m.source.catalogue)
	for _, c := range m.source.catalogue {
		m.moved.Versions += len(c.Versions)
	}
	return nil
}

// take makes an inventory.
func take(ctx context.Context, s moveReader) (i inventory, err error) {
	if i.plants, err = s.CountPlants(ctx); err != nil {
		return i, err
	}
	if i.keys, err = s.Keys(ctx); err != nil {
		return i, err
	}
	slices.SortFunc(i.keys, byID)
	i.catalogue, err = s.Chronicles(ctx)
	return i, err
}

// span is which retry keys are moved. Those that are older may be forgotten while they are: a day is promised, and two are
// kept.
func (m *mover) span() store.RetrySpan {
	return store.RetrySpan{Plants: m.source.plants, Since: m.now.Add(-36 * time.Hour)}
}

// revive takes versions that are to come out of those that the target has retired, before their files are looked at.
func (m *mover) revive(ctx context.Context) error {
	retired, err := m.to.store.Retired(ctx)
	if err != nil {
		return err
	}
	for _, r := range retired {
		for _, c := range m.source.catalogue {
			if slices.Contains(c.Names(), r.Version) && !slices.Contains(m.revived, r.Version) {
				m.revived = append(m.revived, r.Version)
			}
		}
	}
	if len(m.revived) == 0 {
		return nil
	}
	return m.to.store.ForgetRetired(ctx, m.revived)
}

// keysAtOnce is how many keys a transaction adds.
const keysAtOnce = 500

// moveKeys adds keys, and what has become of those that are there.
func (m *mover) moveKeys(ctx context.Context) error {
	m.steps.update(phaseCatalogue, func(*Progress) {})
	var added []herb.Key
	used := map[string]time.Time{}
	for _, k := range m.source.keys {
		i, there := slices.BinarySearchFunc(m.target.keys, k, byID)
		if !there {
			added = append(added, k)
			continue
		}
		if !k.Revoked.IsZero() && m.target.keys[i].Revoked.IsZero() {
			if err := m.to.store.RevokeKey(ctx, k.ID, k.Revoked); err != nil {
				return err
			}
		}
		if k.LastUsed.After(m.target.keys[i].LastUsed) {
			used[k.ID] = k.LastUsed
		}
	}
	for some := range slices.Chunk(added, keysAtOnce) {
		if err := m.to.store.AddKeys(ctx, some); err != nil {
			return err
		}
		m.moved.NewKeys += len(some)
	}
	return m.to.store.TouchKeys(ctx, used)
}

// portion is how many plants are added in one transaction at least, if there are as many. It is larger where there are
// more plants already, so that building indexes anew costs each plant about the same.
const portion = 1_000_000

// movePlants adds the plants that the target lacks.
func (m *mover) movePlants(ctx context.Context) error {
	for have := m.target.plants; have < m.source.plants; {
		count := min(m.source.plants-have, max(portion, have))
		if err := m.to.store.AddPlants(ctx, have, count, m.plantBatches(ctx, have, have+count)); err != nil {
			return err
		}
		have += count
		m.moved.NewPlants += count
	}
	return nil
}

// atOnce is how many plants or retry keys are read at once.
const atOnce = 2_000

// plantBatches yields those plants of the source that follow the first n, up to the last.
func (m *mover) plantBatches(ctx context.Context, n, last int) func(yield func([]herb.NewPlant, error) bool) {
	return func(yield func([]herb.NewPlant, error) bool) {
		for n < last {
			some, err := m.from.store.PlantsAfter(ctx, n, min(atOnce, last-n))
			if err == nil && len(some) == 0 {
				err = fmt.Errorf("the source has lost plants: there are %d of %d", n, last)
			}
			if !yield(some, err) || err != nil {
				return
			}
			n += len(some)
			m.steps.update(phasePlants, func(p *Progress) {
				p.Done, p.Total = int64(n-m.target.plants), int64(m.source.plants-m.target.plants)
				p.Records = int(p.Done)
			})
		}
	}
}

// moveRetries adds the retry keys that the target lacks.
func (m *mover) moveRetries(ctx context.Context) error {
	var after store.Retry
	for {
		some, err := m.from.store.RetriesAfter(ctx, m.span(), after, atOnce)
		if err != nil || len(some) == 0 {
			return err
		}
		if err := m.to.store.AddRetries(ctx, some); err != nil {
			return err
		}
		after = some[len(some)-1].Retry
	}
}

// moveCatalogue writes the datasets that the target has not or not in this way.
func (m *mover) moveCatalogue(ctx context.Context) error {
	for _, c := range m.source.catalogue {
		var had store.Chronicle
		if i, there := slices.BinarySearchFunc(m.target.catalogue, c, byRef); there {
			had = m.target.catalogue[i]
			if string(encodeChronicle(had)) == string(encodeChronicle(c)) {
				continue
			}
		}
		if err := m.to.store.SetChronicle(ctx, c, had.Names(), m.to.retireAt(m.now)); err != nil {
			return err
		}
	}
	return nil
}

func byID(a, b herb.Key) int         { return strings.Compare(a.ID, b.ID) }
func byRef(a, b store.Chronicle) int { return a.Ref.Compare(b.Ref) }
