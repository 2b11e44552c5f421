package descriptor

import "errors"

// errFolder reports that a descriptor is about its folder.
var errFolder = errors.New("a descriptor without resources")

// readFolder reads a descriptor without resources: it states the access of its folder, or it is an
// error.
func (p *packageReader) readFolder(root node) {
	misspelled := ""
	if root.member("resources").value == nil {
		misspelled = root.misspelled("resources")
	}
	switch name := root.member("name"); {
	case p.err != nil:
	case misspelled != "":
		root.fail("has no resources; list at least one under \"resources\"%s", misspelled)
	case p.access == "":
		root.fail("has no resources; list at least one under \"resources\", or set only herbarium.access, for all " +
			"files of the folder")
	case name.value != nil:
		name.fail("has no effect without resources, because files are published in the namespace of their folder; " +
			"remove it, or list the files under \"resources\"")
	default:
		p.err = errFolder
	}
}
