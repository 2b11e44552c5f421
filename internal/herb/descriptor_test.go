package herb_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/must"
)

// TestDescriptor_UnmarshalJSON parses descriptors. The members of the resource override those of
// the package, and malformed ones are ignored.
func TestDescriptor_UnmarshalJSON(t *testing.T) {
	t.Parallel()
	own := func(settings string) string { return `{"resource":{"herbarium":` + settings + `}}` }
	pair := herb.Coordinates{Latitude: "y", Longitude: "x"}
	for text, want := range map[string]herb.Descriptor{
		`{}`: {}, `7`: {}, `{"package":7,"resource":{"keywords":["a"]}}`: {Keywords: []string{"a"}},
		`{"package":{"keywords":["a"],"homepage":"https://a"},"resource":{"keywords":["b"],"homepage":7}}`: {
			Keywords: []string{"b"}, Homepage: "https://a"},
		`{"package":{"keywords":["a"]},"resource":{"keywords":"malformed"}}`: {
			Keywords: []string{"a"}},
		`{"package":{"licenses":[{"name":"a","path":"/a"}]},"resource":{"licenses":[{"name":"b"}]}}`: {
			Licenses: []herb.DescriptorEntry{{Name: "b"}}},
		`{"package":{"publisher":"Ana","contactPoint":{"fn":"Bo","hasEmail":"b@x.example"}}}`: {
			Publisher: herb.DescriptorEntry{Name: "Ana"},
			Contact:   herb.DescriptorEntry{FN: "Bo", HasEmail: "b@x.example"},
		},
		own(`{"coordinates":"none"}`): {
			NoCoordinates: true},
		own(`{"coordinates":{"latitude":"y","longitude":"x"}}`): {
			Coordinates: pair},
		own(`{"map":{"latitude":"y","longitude":"x"}}`): {
			Coordinates: pair},
		own(`{"coordinates":{"field":"p","notation":"wkt"},"map":{"latitude":"y","longitude":"x"}}`): {
			Coordinates: herb.Coordinates{Field: "p", Notation: herb.NotationWKT}},
		own(`{"coordinates":7,"charts":7}`): {},
		own(`{"charts":[{"by":"day:month"},{},{"by":["a","b"],"measure":"sum:c"},{"by":5}]}`): {
			Charts: []herb.PinnedChart{{By: []string{"day:month"}}, {By: []string{"a", "b"}, Measure: "sum:c"}},
		},
		own(`7`): {},
	} {
		got := herb.NewDescriptor([]byte(text))
		want.Text = json.RawMessage(text)
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		content, err := json.Marshal(got)
		must.NoError(t, err)
		if string(content) != text {
			t.Errorf("%s is encoded as %s", text, content)
		}
	}
	if herb.NewDescriptor(nil) != nil {
		t.Error("no text is a descriptor")
	}
}

// TestDescriptor_ForReaders checks that readers see no address of a file.
func TestDescriptor_ForReaders(t *testing.T) {
	t.Parallel()
	const text = `{"package":{"name":"shop"},"resource":{"path":"https://intern.example/a.csv","title":"A",` +
		`"herbarium":{"expected":"daily","refresh":{"every":"1h","credentials":"crm"}}}}`
	d := herb.NewDescriptor([]byte(text))
	public, err := d.ForReaders().MarshalJSON()
	const want = `{"package":{"name":"shop"},"resource":{"herbarium":{"expected":"daily"},"title":"A"}}`
	if err != nil || string(public) != want || string(d.Text) != text {
		t.Errorf("%s, %v", public, err)
	}
	local := herb.NewDescriptor([]byte(`{"resource":{"path":"a.csv"}}`))
	if local.ForReaders() != local || (*herb.Descriptor)(nil).ForReaders() != nil {
		t.Error("a descriptor without an address is another one")
	}
}
