// Package typed decides which type the values of a field have in other programs: in Parquet files,
// in typed JSON, for agents and in generated clients. It is the only place that decides so.
//
// The records of a version are texts, stored as written. A field with a type has values that other
// programs have types for, but not every column fits: an integer may be too large for 64 bits, a
// number may have more digits than any decimal, a datetime may have a zone in some records only.
// Facts collects what decides that from all values of a column when the index of a version is
// built. Of returns the Column that follows from a field and its facts. A column whose values are
// not all exactly representable stays text, and says why.
//
//	for each value: facts.Add(&field, value)     // when the index is built; the segment stores facts
//	column := typed.Of(&field, facts)            // segment.Reader.Types, library.View.Types
//	b = column.AppendJSON(b, &field, value)      // the value as a literal of typed JSON
//
// Values that are missing, empty or a marker such as NA, are null in every type but the elements of
// lists, which are never null. A number is the number that its text means: 1.234,50 € is 1234.50,
// and 12 % is 12. A duration is its seconds, in the numeric type that fits them.
package typed
