package herb

import (
	"slices"
	"unicode/utf8"
)

// Limits of what a publisher says about a dataset: in a descriptor, with flags and parameters, in
// the names of columns, and in a review. Exceeding one is an error that names it. Versions of
// earlier releases may exceed them: their texts are clipped where they are shown.
const (
	MaxDescriptor   = 4 << 20  // bytes of a descriptor; less in YAML
	MaxTitle        = 1_000    // characters of a title, of a dataset or a field
	MaxDescription  = 100_000  // characters of a description
	MaxFieldName    = 1_000    // bytes of the name of a field or column
	MaxFieldNames   = 1 << 20  // bytes of all names of columns together
	MaxFields       = 10_000   // of a dataset
	MaxResources    = 10_000   // of a descriptor, and files of a resource
	MaxFormat       = 100      // characters of the notation of dates
	MaxValues       = 1_000    // values that mean missing, true or false
	MaxIncluded     = 10_000   // values of a condition for rows
	MaxExpectations = 200      // queries that a version is checked with
	MaxCharts       = 12       // shown with the description
	MaxKeyFields    = 10       // of a primary key
	MaxCategories   = 10_000   // of a field
	MaxCategoryText = 1 << 20  // bytes of all categories of a dataset, with their labels
	MaxAnnotation   = 64 << 10 // bytes of each other member about the dataset, such as its licenses
	MaxListed       = 10_000   // characters of a description in lists of datasets
	MaxListedNames  = 64 << 10 // bytes of the names of columns of a dataset in lists of datasets
)

// Annotations returns the members of a descriptor that describe a dataset to readers and
// catalogues, besides its title and description.
func Annotations() []string {
	return []string{"keywords", "homepage", "licenses", "sources", "contributors", "publisher", "contactPoint"}
}

// TextLimit is a text with the number of characters that it may have.
type TextLimit struct {
	Name, Text string
	Max        int
}

// CheckTexts returns an error that names the first text that is too long.
func CheckTexts(texts ...TextLimit) error {
	for _, t := range texts {
		if n := utf8.RuneCountInString(t.Text); n > t.Max {
			return Invalidf("%s has %d characters: %.60q…; at most %d are possible", t.Name, n, t.Text, t.Max)
		}
	}
	return nil
}

// CheckCount returns an error if a list has too many elements. name is the list, such as "the
// missing values of field 3".
func CheckCount(name string, n, limit int) error {
	if n > limit {
		return Invalidf("%s are %d; at most %d are possible", name, n, limit)
	}
	return nil
}

// ClipTexts returns the description of a dataset without what exceeds the limits of texts.
func (d Dataset) ClipTexts() Dataset {
	d.Title, d.Description = Clip(d.Title, MaxTitle), Clip(d.Description, MaxDescription)
	cloned := false
	for i, f := range d.Fields {
		f.Title, f.Description = Clip(f.Title, MaxTitle), Clip(f.Description, MaxDescription)
		if f.Title == d.Fields[i].Title && f.Description == d.Fields[i].Description {
			continue
		}
		if !cloned {
			d.Fields, cloned = slices.Clone(d.Fields), true
		}
		d.Fields[i] = f
	}
	return d
}
