package segment

// ColumnStat summarizes the values of a field.
type ColumnStat struct {
	Filled   int    // records with a value
	Distinct int    // values that compare as different: 1 and 1.0 are the same number
	Min, Max string // first and last value in the order of the field's type; empty if there are none
}

// Column summarizes the values of field i. Its cost does not depend on their number.
func (r *Reader) Column(i int) (s ColumnStat, err error) {
	err = r.file.Guard(func() error {
		c := &r.columns[i]
		s.Filled, s.Distinct = c.Values(), c.Distinct()
		if s.Distinct > 0 {
			s.Min, s.Max = c.RunValue(0), c.RunValue(s.Distinct-1)
		}
		return nil
	})
	return s, err
}
