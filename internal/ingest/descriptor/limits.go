package descriptor

import (
	"cmp"
	"fmt"

	"herbarium/internal/herb"
)

// checkLimits fails if a setting exceeds one of the limits of herb. All ways of publishing pass it,
// so that the work of a publish and the size of pages do not depend on the settings.
func (s Source) checkLimits() error {
	err := cmp.Or(
		herb.CheckTexts(herb.TextLimit{Name: "the title", Text: s.Title, Max: herb.MaxTitle},
			herb.TextLimit{Name: "the description", Text: s.Description, Max: herb.MaxDescription}),
		herb.CheckCount("the fields", len(s.Fields), herb.MaxFields),
		checkValues("the missing values", s.Missing),
		checkConditions("include", s.Include),
		checkConditions("exclude", s.Exclude),
		herb.CheckCount("the expectations", len(s.Expectations), herb.MaxExpectations),
		herb.CheckCount("the charts", len(s.Charts), herb.MaxCharts),
		herb.CheckCount("the fields of the primary key", len(s.PrimaryKey), herb.MaxKeyFields),
	)
	size := 0
	for i := 0; i < len(s.Fields) && err == nil; i++ {
		size += herb.CategoriesSize(s.Fields[i].Categories)
		err = s.Fields[i].checkLimits(fmt.Sprintf("field %d, %.60q", i+1, s.Fields[i].Name))
	}
	if size > herb.MaxCategoryText {
		err = cmp.Or(err, herb.Invalidf("the categories of the fields have %s; at most %s are possible, with their labels",
			herb.FormatBytes(int64(size)), herb.FormatBytes(herb.MaxCategoryText)))
	}
	return err
}

func (f FieldSetting) checkLimits(name string) error {
	for _, n := range []string{f.Name, f.From} {
		if len(n) > herb.MaxFieldName {
			return herb.Invalidf("the name of %s has %d bytes; at most %d are possible", name, len(n),
				herb.MaxFieldName)
		}
	}
	return cmp.Or(
		herb.CheckTexts(herb.TextLimit{Name: "the title of " + name, Text: f.Title, Max: herb.MaxTitle},
			herb.TextLimit{Name: "the description of " + name, Text: f.Description, Max: herb.MaxDescription},
			herb.TextLimit{Name: "the format of " + name, Text: f.Schema.Format, Max: herb.MaxFormat}),
		checkValues("the missing values of "+name, f.Missing),
		checkValues("the true values of "+name, f.Schema.TrueValues),
		checkValues("the false values of "+name, f.Schema.FalseValues),
	)
}

// checkConditions checks the conditions of a setting.
func checkConditions(setting string, conditions []Condition) error {
	err := herb.CheckCount("the conditions of "+setting, len(conditions), herb.MaxFields)
	for _, c := range conditions {
		err = cmp.Or(err, herb.CheckCount(fmt.Sprintf("the values of %.60q in %s", c.Column, setting), len(c.Values),
			herb.MaxIncluded))
	}
	return err
}

// checkValues checks values that each value of a column is compared with.
func checkValues(name string, values []string) error {
	err := herb.CheckCount(name, len(values), herb.MaxValues)
	for i := 0; i < len(values) && err == nil; i++ {
		err = herb.CheckTexts(herb.TextLimit{Name: "one of " + name, Text: values[i], Max: herb.MaxTitle})
	}
	return err
}
