package httpapi_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/versions"
)

// TestConsents sends each consent as a parameter of each request that publishes, and compares the
// parameters with the document.
func TestConsents(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	p.put(t, "", "id,name\n1,Rose\n")
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, Description string }
		}
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Description string
					Items       struct{ Enum []herb.Consent }
				}
			}
		}
	}
	must.NoError(t, json.Unmarshal([]byte(p.get(t, "/openapi.json").body), &document))
	for _, tt := range []struct {
		method, path string
		consents     []herb.Consent
	}{
		{"PUT", "/source", herb.Consents()},
		{"PATCH", "/source", herb.Consents()},
		{"PUT", "/descriptor", herb.Consents()},
		{"POST", "/rollback", versions.RollbackConsents()},
	} {
		var want, got []string
		for _, c := range herb.Consents() {
			a := p.send(t, tt.method, tt.path+"?"+c.Parameter()+"=perhaps", "")
			if isKnown := strings.Contains(a.body, "write true or false"); a.status != 400 ||
				isKnown != slices.Contains(tt.consents, c) {
				t.Errorf("%s %s with %s: %d %s", tt.method, tt.path, c, a.status, a.body)
			}
		}
		for _, c := range tt.consents {
			want = append(want, c.Parameter()+" Publish "+c.Text().Help+".")
		}
		for _, parameter := range document.Paths["/api/v1/{namespace}/{dataset}"+
			tt.path][strings.ToLower(tt.method)].Parameters {
			if strings.HasPrefix(parameter.Name, "_allow_") {
				got = append(got, parameter.Name+" "+parameter.Description)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("the document of %s %s has %q, want %q", tt.method, tt.path, got, want)
		}
	}
	requires, forms := 0, 0
	for name, schema := range document.Components.Schemas {
		if enum := schema.Properties["requires"].Items.Enum; enum != nil {
			requires++
			slices.Sort(enum)
			if !slices.Equal(enum, slices.Sorted(slices.Values(herb.Consents()))) {
				t.Errorf("%s requires one of %v", name, enum)
			}
		}
		if _, isForm := schema.Properties["_force"]; isForm {
			forms++
			for _, c := range herb.Consents() {
				if got := schema.Properties[c.Parameter()].Description; got != "Publish "+c.Text().Help+"." {
					t.Errorf("%s describes %s as %q", name, c.Parameter(), got)
				}
			}
		}
	}
	if requires != 2 || forms != 1 {
		t.Errorf("%d schemas have consents, and %d are forms", requires, forms)
	}
}
