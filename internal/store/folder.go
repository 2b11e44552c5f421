package store

// The entries of a data folder.
const (
	DatabaseFile = "herbarium.db" // if there is no other database
	VersionsDir  = "versions"     // segment files of published versions
)
