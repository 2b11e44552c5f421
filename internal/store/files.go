package store

import (
	"fmt"
	"strings"
)

// The suffixes of files in VersionsDir or an object store.
const (
	SegmentSuffix = ".segment"
	SourceSuffix  = ".source"
	DraftSuffix   = ".draft" // of the compressed file of a draft, which is no file of a version

	// CopySuffix is the suffix of files that get their name once they are complete: segments that a
	// migration copies into a folder, and rebuilt ones.
	CopySuffix = ".tmp"
	partSuffix = ".part" // of other incomplete files
)

// FileKind is a kind of files of versions.
type FileKind int

// The kinds of files of versions. Garbage collection of releases up to 0.9.0 removes what it does
// not know if it has one of the suffixes .segment, .source, .draft, .description, .part and .tmp;
// so new kinds have other ones.
const (
	SegmentKind       FileKind = iota // the records with an index, as they were published
	RebuiltKind                       // the records with the index of another release
	FormerRebuiltKind                 // RebuiltKind of unreleased programs; removed as those of other releases
	ParquetKind                       // the Parquet file
	ComparisonKind                    // the differences from the records of another version
	SourceKind                        // the compressed source
	DescriptionKind                   // a node's copy of the description
	PartialKind                       // an incomplete file of any kind
)

func (k FileKind) suffix() string {
	switch k {
	case RebuiltKind:
		return ".rebuilt"
	case ParquetKind:
		return ".parquet"
	case ComparisonKind:
		return ".comparison"
	case SourceKind:
		return SourceSuffix
	case DescriptionKind:
		return ".description"
	}
	return SegmentSuffix
}

// VersionFile identifies a file of a version in a folder or an object store. Its name begins with
// the version and a dot.
type VersionFile struct {
	Version string
	Kind    FileKind
	// Index names what the bytes of a derived file depend on, beside the records, such as f4-r1; of
	// a comparison, the other version and the layout of the file. Files of other kinds have none.
	Index string
}

// Name returns the name of a file that is not a partial one.
func (f VersionFile) Name() string {
	name := f.Version
	if f.IsDerived() {
		name += "." + f.Index
	}
	return name + f.Kind.suffix()
}

// IsDerived reports whether the file can be built from the published one.
func (f VersionFile) IsDerived() bool {
	return f.Kind == RebuiltKind || f.Kind == FormerRebuiltKind || f.Kind == ParquetKind || f.Kind == ComparisonKind
}

// IsPublished reports whether the file is one that a publish has stored and that cannot be built
// again: backups have it.
func (f VersionFile) IsPublished() bool { return f.Kind == SegmentKind || f.Kind == SourceKind }

// IsOnDemand reports whether the file is built when a request needs it, and built again if it was
// removed; versions are listed without it.
func (f VersionFile) IsOnDemand() bool { return f.Kind == ParquetKind || f.Kind == ComparisonKind }

// IsOf reports whether a file is one of a version in a set, or compares another version with one.
func (f VersionFile) IsOf(versions map[string]bool) bool {
	return versions[f.Version] || f.Kind == ComparisonKind && versions[f.comparedWith()]
}

// IsNeeded reports whether all versions that a file is about are in a set.
func (f VersionFile) IsNeeded(versions map[string]bool) bool {
	return versions[f.Version] && (f.Kind != ComparisonKind || versions[f.comparedWith()])
}

func (f VersionFile) comparedWith() string {
	return f.Index[:max(0, strings.LastIndexByte(f.Index, '-'))]
}

// ParseVersionFile returns the file with a name. ok is false if it is not the name of a file of a
// version.
func ParseVersionFile(name string) (f VersionFile, ok bool) {
	version, rest, ok := strings.Cut(name, ".")
	if !ok {
		return f, false
	}
	rest = "." + rest
	if strings.HasSuffix(rest, partSuffix) || strings.HasSuffix(rest, CopySuffix) {
		return VersionFile{Version: version, Kind: PartialKind}, true
	}
	for kind := range PartialKind {
		f = VersionFile{version, kind, strings.TrimPrefix(strings.TrimSuffix(rest, kind.suffix()), ".")}
		if f.IsDerived() == (f.Index != "") && f.Name() == name {
			return f, true
		}
	}
	return VersionFile{}, false
}

// VersionPrefix is how the names of all files of a version begin.
func VersionPrefix(version string) string { return version + "." }

// SegmentFile returns the name of the file of a version as it was published.
func SegmentFile(version string) string {
	return VersionFile{Version: version, Kind: SegmentKind}.Name()
}

// SourceFile returns the name of the file with the source of a version.
func SourceFile(version string) string {
	return VersionFile{Version: version, Kind: SourceKind}.Name()
}

// RebuiltFile returns the name of a file with the records of a version and an index that another
// release than its publisher needs.
func RebuiltFile(version, index string) string {
	return VersionFile{version, RebuiltKind, index}.Name()
}

// ParquetFile returns the name of the Parquet file of a version. layout names what its bytes depend
// on, beside the records.
func ParquetFile(version, layout string) string {
	return VersionFile{version, ParquetKind, layout}.Name()
}

// ComparisonFile returns the name of the file with the differences between the records of two
// versions.
func ComparisonFile(from, to string, layout int) string {
	return VersionFile{to, ComparisonKind, fmt.Sprintf("%s-c%d", from, layout)}.Name()
}

// DescriptionFile returns the name of a node's copy of the description of a version.
func DescriptionFile(version string) string {
	return VersionFile{Version: version, Kind: DescriptionKind}.Name()
}

// DraftFile returns the name of the file of a draft.
func DraftFile(id string) string { return id + DraftSuffix }
