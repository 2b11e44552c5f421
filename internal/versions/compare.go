package versions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
)

// ChangeKind classifies a difference between two versions of a dataset.
type ChangeKind string

// The kinds of changes.
const (
	FieldAdded        ChangeKind = "field_added"
	FieldRemoved      ChangeKind = "field_removed"
	FieldRenamed      ChangeKind = "field_renamed"
	TypeChanged       ChangeKind = "type_changed"
	FlagLost          ChangeKind = "flag_lost"
	FlagGained        ChangeKind = "flag_gained"
	AccessChanged     ChangeKind = "access_changed"
	PrimaryKeyChanged ChangeKind = "primary_key_changed"
	OrderChanged      ChangeKind = "order_changed"
	RecordsChanged    ChangeKind = "records_changed"
	KeyNotUnique      ChangeKind = "primary_key_not_unique"
	ExpectationFailed ChangeKind = "expectation_failed"
	ColumnExposed     ChangeKind = "column_exposed"
	FieldRefilled     ChangeKind = "field_refilled"
	RowsExposed       ChangeKind = "rows_exposed"
	SourceExposed     ChangeKind = "source_exposed"
	FormatChanged     ChangeKind = "format_changed"
	CategoriesChanged ChangeKind = "categories_changed"
)

// Change is a difference that consumers of a dataset may notice when a version goes live.
type Change struct {
	Kind     ChangeKind `json:"kind"`
	Field    string     `json:"field,omitempty"`
	Renamed  string     `json:"renamed,omitempty"`  // the new name of Field, if it appears to be renamed
	Breaking bool       `json:"breaking"`           // a consumer that worked before may fail, or it is an exposure
	Exposure bool       `json:"exposure,omitempty"` // something becomes public that the live version hides
	Message  string     `json:"message"`
}

// Compare returns what changes for consumers when next replaces live, a version or the zero Dataset
// if there is none, and what becomes public. shared is the result of FindHiddenValues, or nil.
func Compare(live, next herb.Dataset, shared HiddenFields) []Change {
	if live.Version == "" {
		return nil
	}
	return slices.Concat(compare(live, next), Exposures(live, next, shared))
}

// compare returns what changes for consumers when next replaces live, in field order.
func compare(live, next herb.Dataset) []Change {
	before, after := positions(live.Fields), positions(next.Fields)
	var changes []Change
	add := func(kind ChangeKind, field string, breaking bool, format string, args ...any) {
		changes = append(changes,
			Change{Kind: kind, Field: field, Breaking: breaking, Message: fmt.Sprintf(format, args...)})
	}
	renamed := map[string]bool{}
	for i, was := range live.Fields {
		j, ok := after[was.Name]
		if ok {
			compareField(was, next.Fields[j], evidence(next, j), add)
			continue
		}
		if i < len(next.Fields) && next.Fields[i].Type == was.Type {
			name := next.Fields[i].Name
			if _, known := before[name]; !known {
				renamed[name] = true
				add(FieldRenamed, was.Name, true, "field %q appears to be renamed to %q, a %s in the same position",
					was.Name, name, was.Type)
				changes[len(changes)-1].Renamed = name
				continue
			}
		}
		add(FieldRemoved, was.Name, true, "field %q is removed", was.Name)
	}
	for _, f := range next.Fields {
		if _, known := before[f.Name]; !known && !renamed[f.Name] {
			add(FieldAdded, f.Name, false, "field %q is added, a %s", f.Name, f.Type)
		}
	}
	compareSettings(live, next, add)
	switch was, is := live.Records, next.Records; {
	case 2*is < was:
		add(RecordsChanged, "", true, "more than half of the records are missing: %s instead of %s", herb.Count(is),
			herb.Count(was))
	case is != was:
		add(RecordsChanged, "", false, "the number of records is %s instead of %s", herb.Count(is), herb.Count(was))
	}
	return changes
}

// compareFormats returns a breaking change if a file has another format than the live version.
func compareFormats(live, next herb.Dataset) []Change {
	if live.Report == nil || next.Report == nil {
		return nil
	}
	was, _, _ := strings.Cut(live.Report.Format, ",")
	is, _, _ := strings.Cut(next.Report.Format, ",")
	if was == is {
		return nil
	}
	return []Change{{Kind: FormatChanged, Breaking: true,
		Message: fmt.Sprintf("the file is %s instead of %s", is, was)}}
}

// evidence returns why a field has its type, with the value that excludes others; empty if that is
// unknown.
func evidence(d herb.Dataset, field int) string {
	if d.Report == nil || len(d.Report.Columns) != len(d.Fields) || d.Report.Columns[field].Evidence == "" {
		return ""
	}
	return " (" + d.Report.Columns[field].Evidence + ")"
}

// compareField compares a field with the live one. why is the evidence for its type.
func compareField(was, is herb.Field, why string, add func(ChangeKind, string, bool, string, ...any)) {
	finer := was.Type == herb.TypeText && is.Type.IsScalar() // values stay the same and compare as what they are
	if was.Type != is.Type {
		add(TypeChanged, was.Name, !finer, "field %q is a %s instead of a %s%s", was.Name, is.Type, was.Type, why)
	}
	for _, flag := range []struct {
		name    string
		was, is bool
	}{
		{"searchable", was.Searchable, is.Searchable},
		{"filterable", was.Filterable, is.Filterable},
		{"sortable", was.Sortable, is.Sortable},
	} {
		switch {
		case flag.was && !flag.is:
			add(FlagLost, was.Name, !finer || flag.name != "searchable", "field %q is no longer %s",
				was.Name, flag.name)
		case !flag.was && flag.is:
			add(FlagGained, was.Name, false, "field %q is now %s", was.Name, flag.name)
		}
	}
	if was.Ordered != is.Ordered || !slices.Equal(was.Categories, is.Categories) {
		add(CategoriesChanged, was.Name, false, "field %q has other categories%s", was.Name,
			firstCategory(was.Categories, is.Categories))
	}
}

// firstCategory names the first category that differs; empty if only their order does.
func firstCategory(was, is []herb.Category) string {
	before := make(map[string]string, len(was))
	for _, c := range was {
		before[c.Value] = c.Label
	}
	for _, c := range is {
		label, known := before[c.Value]
		switch {
		case !known:
			return fmt.Sprintf(", such as %.60q, which is new", c)
		case label != c.Label:
			return fmt.Sprintf(", such as %.60q instead of %.60q", c, herb.Category{Value: c.Value, Label: label})
		}
		delete(before, c.Value)
	}
	for _, c := range was {
		if _, isLeft := before[c.Value]; isLeft {
			return fmt.Sprintf(", such as %.60q, which is removed", c)
		}
	}
	return ""
}

// compareSettings compares the settings of a dataset. That it becomes open is an exposure.
func compareSettings(live, next herb.Dataset, add func(ChangeKind, string, bool, string, ...any)) {
	if live.Access != next.Access && !live.Access.NeedsKey() {
		add(AccessChanged, "", false, "access is %s instead of %s", next.Access, live.Access)
	}
	if !slices.Equal(live.PrimaryKey, next.PrimaryKey) {
		why := ""
		if live.InferredKey && len(next.PrimaryKey) == 0 {
			why = ", whose values repeat or are missing"
		}
		add(PrimaryKeyChanged, "", false, "records have %s instead of %s%s", keyOf(next), keyOf(live), why)
	}
	if live.Order != next.Order {
		add(OrderChanged, "", false, "records come %s instead of %s", orderOf(next), orderOf(live))
	}
}

func keyOf(d herb.Dataset) string {
	switch {
	case len(d.PrimaryKey) == 0:
		return "no primary key"
	case d.InferredKey:
		return "the inferred primary key (" + d.PrimaryKey[0] + ")"
	default:
		return "the primary key (" + strings.Join(d.PrimaryKey, ", ") + ")"
	}
}

func orderOf(d herb.Dataset) string {
	switch {
	case d.Order.Field == "":
		return "in the order of the source"
	case d.Order.Desc:
		return "by " + d.Order.Field + ", descending"
	default:
		return "by " + d.Order.Field
	}
}

func positions(fields []herb.Field) map[string]int {
	m := make(map[string]int, len(fields))
	for i, f := range fields {
		m[f.Name] = i
	}
	return m
}

// Consent returns what a publisher must state to publish a version with the change; empty if
// nothing is required.
func (c Change) Consent() herb.Consent {
	switch {
	case !c.Breaking:
		return ""
	case c.Exposure:
		return herb.ConsentExposure
	case c.Kind == ExpectationFailed:
		return herb.ConsentExpectations
	}
	return herb.ConsentBreaking
}

// RequiredConsents returns the consents that changes require, in alphabetical order.
func RequiredConsents(changes []Change) (required []herb.Consent) {
	for _, c := range changes {
		if needed := c.Consent(); needed != "" {
			required = append(required, needed)
		}
	}
	slices.Sort(required)
	return slices.Compact(required)
}

// Reject returns an error if a version with these changes must not go live without further
// consents.
func Reject(changes []Change, given ...herb.Consent) error {
	rejected := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool {
		return c.Consent() == "" || slices.Contains(given, c.Consent())
	})
	if len(rejected) == 0 {
		return nil
	}
	var reasons strings.Builder
	for _, c := range rejected {
		reasons.WriteString("\n  - " + c.Message)
	}
	return &herb.Error{
		Code: herb.CodeRejected, Message: "rejected, nothing has changed:" + reasons.String(),
		Consents: RequiredConsents(rejected),
	}
}

// findProtected returns an exposure for each protected dataset with the same source file as a
// publication that is open by default. Without its descriptor, a file may be published under
// another name.
func (s *Service) findProtected(ctx context.Context, p Publication) (changes []Change, err error) {
	if p.AccessSet || p.Dataset.Access.NeedsKey() || len(p.Origins) == 0 {
		return nil, nil
	}
	protected, err := s.catalogue.Protected(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range protected {
		if d.Ref == p.Dataset.Ref {
			continue
		}
		for _, o := range p.Origins {
			if slices.ContainsFunc(d.Origins, o.Overlaps) {
				changes = append(changes, Change{Kind: AccessChanged, Breaking: true, Exposure: true,
					Message: fmt.Sprintf(
						"%s is the source of %s, which requires a key, and this dataset does not state its access: its "+
							"content would become "+
							"public; state the access, key or open", o.Path, d.Ref)})
				break
			}
		}
	}
	return changes, nil
}
