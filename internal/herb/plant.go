package herb

// NewPlant is a plant to be created.
type NewPlant struct {
	ID int64
	Plant
}

// Plant is a created plant. Tag is nil if none was given, which differs from an empty tag.
type Plant struct {
	Name string  `json:"name"`
	Tag  *string `json:"tag,omitempty"`
}

// PlantsRef is the dataset that lists the created plants. The name is reserved.
var PlantsRef = Ref{Namespace: "store", Name: "plants"}

// PlantFields returns the fields of the plants listing.
func PlantFields() []Field {
	return []Field{
		{Name: "id", Type: TypeNumber, Description: "Identification number of the plant", Filterable: true, Sortable: true},
		{Name: "name", Type: TypeText, Description: "Name of the plant", Searchable: true, Filterable: true, Sortable: true},
		{Name: "tag", Type: TypeText, Description: "Tag that specifies the type", Searchable: true, Filterable: true, Sortable: true},
	}
}
