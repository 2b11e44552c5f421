package versions

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// findDuplicates reports records with the same key as a breaking change.
func findDuplicates(ctx context.Context, r *segment.Reader, d herb.Dataset, key []string, isPrimary bool,
	opts segment.SortOptions) ([]Change, error) {
	if len(key) == 0 {
		return nil, nil
	}
	fields := make([]int, len(key))
	for i, name := range key {
		fields[i] = herb.FieldIndex(d.Fields, name)
	}
	duplicates, err := r.Duplicates(ctx, fields, opts)
	if err != nil || duplicates.Records == 0 {
		return nil, err
	}
	change := DuplicateKeys(key, isPrimary, duplicates.Records)
	var b strings.Builder
	b.WriteString(change.Message)
	shown := 0
	for _, dup := range duplicates.First {
		values := make([]string, len(dup.Values))
		for i, v := range dup.Values {
			values[i] = strconv.Quote(clip(v))
		}
		fmt.Fprintf(&b, "; %s in records %s", strings.Join(values, ", "), numbers(dup))
		shown += dup.Total - 1
	}
	if shown < duplicates.Records {
		b.WriteString("; …")
	}
	change.Message = b.String()
	return []Change{change}, nil
}

// DuplicateKeys returns the breaking change that some records have the primary key, or another
// unique key, of an earlier one.
func DuplicateKeys(key []string, isPrimary bool, records int) Change {
	what := "unique key"
	if isPrimary {
		what = "primary key"
	}
	return Change{Kind: KeyNotUnique, Breaking: true,
		Message: fmt.Sprintf("%s (%s) is not unique: %s the key of an earlier one",
			what, strings.Join(key, ", "), herb.Plural(records, "record repeats", "records repeat"))}
}

// numbers formats the record numbers of a duplicate.
func numbers(d segment.Duplicate) string {
	list := make([]string, len(d.Records))
	for i, n := range d.Records {
		list[i] = herb.Count(n)
	}
	if len(list) < d.Total {
		return strings.Join(list, ", ") + ", …"
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
