// Package view builds what the templates of the pages show.
//
// State is the URL of a view of rows. The other types are view models: plain structs with formatted values and complete
// links, so that templates contain no logic beyond conditions and loops. The package does no I/O.
package view
