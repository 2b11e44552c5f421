package review

import (
	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
)

// NameDataset returns the dataset of a file: the one that the publisher names, or one that is named
// after the file.
func NameDataset(namespace, dataset, file string) (herb.Ref, error) {
	if namespace == "" {
		return herb.Ref{}, herb.Invalidf("enter the namespace of the dataset")
	}
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
