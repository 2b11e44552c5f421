package herb

// Size returns about how many bytes the description takes in memory, which is also about the size
// of its JSON. Caches and budgets count it.
func (d *Dataset) Size() int {
	const head, perField, perColumn, perCategory = 512, 240, 320, 32 // bytes besides texts
	size := head + len(d.Title) + len(d.Description) + d.Descriptor.Size()
	for i := range d.Fields {
		f := &d.Fields[i]
		size += perField + len(f.Name) + len(f.Title) + len(f.Description) + textSize(f.Notation.True, f.Notation.False,
			f.Notation.Missing) + perCategory*len(f.Categories) + CategoriesSize(f.Categories)
	}
	if r := d.Report; r != nil {
		for i := range r.Columns {
			c := &r.Columns[i]
			size += perColumn + len(c.Field) + len(c.Column) + len(c.Evidence) + len(c.Min) + len(c.Max) +
				textSize(c.Notes)
		}
		size += textSize(r.Hidden, r.Notes)
	}
	return size
}

func textSize(lists ...[]string) (size int) {
	for _, list := range lists {
		for _, s := range list {
			size += 16 + len(s) // with its header
		}
	}
	return size
}
