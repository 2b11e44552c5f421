package herb

// NewPlant is a plant as its creator sends it.
type NewPlant struct {
	ID int64
	Plant
}

// Plant is a plant as the creator gets it back. Tag is nil when none was given, which is not the same as an empty one.
type Plant struct {
	Name string  `json:"name"`
	Tag  *string `json:"tag,omitempty"`
}

// PlantsRef is where the plants that were created are listed. Nothing else can be published under this name.
var PlantsRef = Ref{Namespace: "store", Name: "plants"}

// PlantFields are the fields of that listing.
func PlantFields() []Field {
	return []Field{
		{Name: "id", Type: TypeNumber, Description: "Identification number of the plant", Filterable: true, Sortable: true},
		{Name: "name", Type: TypeText, Description: "Name of the plant", Searchable: true, Filterable: true, Sortable: true},
		{Name: "tag", Type: TypeText, Description: "Tag that specifies the type", Searchable: true, Filterable: true, Sortable: true},
	}
}
