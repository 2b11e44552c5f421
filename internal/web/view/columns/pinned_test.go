package columns

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
)

func TestPinnedCharts(t *testing.T) {
	t.Parallel()
	for descriptor, want := range map[string]string{
		`{"resource":{"herbarium":{"charts":[{"by":"date:month"},{"by":["date:year","category"],"measure":"sum:price"},{"measure":"mean:price"}]}}}`: "_by=date%3Amonth " +
			"_by=date%3Ayear&_by=category&_measure=sum%3Aprice _measure=mean%3Aprice",
		`{}`: "",
	} {
		var got []string
		for _, ps := range pinnedCharts(
			&herb.Dataset{Details: herb.Details{Descriptor: herb.NewDescriptor([]byte(descriptor))}}) {
			got = append(got, ps.Encode())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s", descriptor, got)
		}
	}
}
