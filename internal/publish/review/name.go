package review

import (
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
)

// NameDataset returns the dataset of a file: the one that the publisher names, with names made
// valid as far as that is possible, such as city-of-basel of City of Basel, or one that is named
// after the file.
func NameDataset(namespace, dataset, file string) (herb.Ref, error) {
	if namespace == "" {
		return herb.Ref{}, herb.Invalidf("enter the collection of the dataset")
	}
	namespace, dataset = makeValid(namespace), makeValid(dataset)
	ref, err := herb.ParseRef(namespace + "/" + dataset)
	if dataset == "" {
		if !herb.ValidName(namespace) {
			return ref, err
		}
		ref, err = descriptor.NewRef(file, namespace, descriptor.Stem(file))
		if err != nil {
			return ref, herb.Invalidf("a dataset cannot be named after the file %q; enter a name", herb.Clip(file, 100))
		}
	}
	if err == nil && descriptor.CheckReserved(file, ref) != nil {
		err = herb.Invalidf("the name %s is reserved; enter another one", ref)
	}
	return ref, err
}

// makeValid returns the valid name that is nearest to a name, or the name itself if there is none.
// A name with a slash may be that of a namespace and a dataset.
func makeValid(name string) string {
	if made := descriptor.Slug(name); !herb.ValidName(name) && herb.ValidName(made) && !strings.Contains(name, "/") {
		return made
	}
	return name
}
