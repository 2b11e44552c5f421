package app

import (
	"cmp"
	"context"
	"runtime"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/library"
)

// maxConnections returns the limit of open connections: the descriptor limit minus a reserve for databases, published files
// and publishing. 0 if no limit is known.
func maxConnections(descriptors int) int {
	if descriptors == 0 {
		return 0
	}
	reserve := max(256, descriptors/8)
	return max(descriptors-reserve, descriptors/2)
}

// limits returns the sizes of the lanes. Unconfigured ones depend on processors and memory.
func (c Config) limits() admission.Limits {
	l := admission.DefaultLimits(runtime.GOMAXPROCS(0), c.memory())
	for lane, slots := range map[admission.Lane]int{
		admission.Cheap: c.MaxInFlight, admission.Expensive: c.MaxExpensive,
		admission.Export: c.MaxExports, admission.Write: c.MaxWrites,
	} {
		l[lane].Slots = cmp.Or(slots, l[lane].Slots)
	}
	return l
}

// limitedLibrary runs the queries of pages in the lanes of a controller.
type limitedLibrary struct {
	*library.Library
	lanes *admission.Controller
}

// Acquire returns a dataset whose queries are limited.
func (l limitedLibrary) Acquire(ctx context.Context, ref herb.Ref) (library.View, error) {
	return l.limit(l.Library.Acquire(ctx, ref))
}

// AcquireVersion returns a version of a dataset whose queries are limited.
func (l limitedLibrary) AcquireVersion(ctx context.Context, ref herb.Ref, version string) (library.View, error) {
	return l.limit(l.Library.AcquireVersion(ctx, ref, version))
}

func (l limitedLibrary) limit(view library.View, err error) (library.View, error) {
	if err == nil {
		view.Source = l.lanes.Limit(view.Records, view.Source)
	}
	return view, err
}
