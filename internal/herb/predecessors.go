package herb

import "slices"

// PredecessorsOf returns the kept versions that were live before a version with these details, the
// last one first. Versions that were rolled back are not among them. kept are the names of all kept
// versions, oldest first, which include version.
//
// A version of an earlier release does not name its predecessors: they are the version that it was
// compared with, or else the one that was added before it, and all earlier ones.
func (d Details) PredecessorsOf(version string, kept []string) []string {
	if d.Predecessors != nil {
		return slices.DeleteFunc(slices.Clone(d.Predecessors), func(v string) bool { return !slices.Contains(kept, v) })
	}
	last := slices.Index(kept, version) - 1
	if d.Compared != nil && slices.Contains(kept, d.Compared.Since) {
		last = slices.Index(kept, d.Compared.Since)
	}
	earlier := slices.Clone(kept[:max(last+1, 0)])
	slices.Reverse(earlier)
	return earlier
}
