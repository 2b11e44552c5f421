package web_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/web"
)

// render shows the front page for some datasets.
func render(t *testing.T, datasets ...herb.Dataset) *httptest.ResponseRecorder {
	t.Helper()
	home := web.Home(func(context.Context) ([]herb.Dataset, error) { return datasets, nil }, none)
	w := httptest.NewRecorder()
	if err := home(w, httptest.NewRequest("GET", "/", nil)); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestHomeShowsDatasets(t *testing.T) {
	t.Parallel()
	body := render(t, herb.Dataset{
		Ref: herb.Ref{Namespace: "garden", Name: "catalog"}, Title: "The garden", Description: "What grows.", Records: 500,
		Fields: []herb.Field{
			{Name: "title", Type: herb.TypeText, Filterable: true, Sortable: true, Searchable: true, Title: "Title"},
			{Name: "price", Type: herb.TypeNumber, Filterable: true, Sortable: true, Description: "In euros"},
		},
	}, herb.Dataset{Ref: herb.Ref{Namespace: "staff", Name: "list"}, Access: herb.AccessKey}).Body.String()
	for _, want := range []string{
		"<html lang=\"en\">", "The garden", "What grows.", "<dd>500</dd>", "open to anyone", "with a key", "In euros",
		`href="/api/v1/garden/catalog/data"`, `href="/api/v1/garden/catalog"`, `href="/openapi.json"`,
		`href="/api/v1/garden/catalog/data?sort=price&amp;order=desc"`, "<code>title</code>", "filter sort search",
		`href="/api/v1/staff/list/data"`, `<h3 id="staff-list">staff/list</h3>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestHomeWithoutDatasets(t *testing.T) {
	t.Parallel()
	if body := render(t).Body.String(); !strings.Contains(body, "There are none yet.") {
		t.Errorf("an empty library is not told of:\n%s", body)
	}
}

func TestHomeEscapes(t *testing.T) {
	t.Parallel()
	const evil = `"><script>alert(1)</script>`
	body := render(t, herb.Dataset{
		Ref: herb.Ref{Namespace: "a", Name: "b"}, Title: evil, Description: evil,
		Fields: []herb.Field{{Name: evil, Title: evil, Description: evil, Type: herb.TypeNumber, Sortable: true}},
	}).Body.String()
	if strings.Contains(body, "<script") || strings.Contains(body, `"">`) {
		t.Errorf("what a dataset says got into the page as it is:\n%s", body)
	}
}

func TestHomePolicyAllowsItsStyleOnly(t *testing.T) {
	t.Parallel()
	w := render(t)
	_, rest, _ := strings.Cut(w.Body.String(), "<style>")
	style, _, ok := strings.Cut(rest, "</style>")
	if !ok {
		t.Fatal("the page has no style")
	}
	sum := sha256.Sum256([]byte(style))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"
	if got := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(got, want) {
		t.Errorf("Content-Security-Policy is %q, which does not begin with %q", got, want)
	}
	if got := w.Header().Get("X-Content-Type-Options"); got != "nosniff" {
		t.Errorf("X-Content-Type-Options is %q", got)
	}
	if strings.Contains(w.Body.String(), "style=") {
		t.Error("the policy forbids style attributes, and the page has one")
	}
}

func TestHomeReturnsFailures(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	home := web.Home(func(context.Context) ([]herb.Dataset, error) { return nil, broken }, none)
	w := httptest.NewRecorder()
	if err := home(w, httptest.NewRequest("GET", "/", nil)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if w.Body.Len() > 0 {
		t.Error("something was written")
	}
}

func none(context.Context) ([]herb.Trouble, error) { return nil, nil }

func TestHome_troubles(t *testing.T) {
	t.Parallel()
	known := herb.Ref{Namespace: "garden", Name: "catalog"}
	home := web.Home(
		func(context.Context) ([]herb.Dataset, error) { return []herb.Dataset{{Ref: known}}, nil },
		func(context.Context) ([]herb.Trouble, error) {
			return []herb.Trouble{
				{Place: "/srv/secret/garden/catalog.csv", Ref: known, Message: "/srv/secret/garden/catalog.csv: line 3: <b>"},
				{Place: "/srv/secret/new.csv", Ref: herb.Ref{Namespace: "garden", Name: "new"}, Message: "it is empty"},
				{Place: "/srv/secret/datapackage.json", Message: "/srv/secret/datapackage.json is not JSON"},
			}, nil
		})
	w := httptest.NewRecorder()
	if err := home(w, httptest.NewRequest(http.MethodGet, "/", nil)); err != nil {
		t.Fatal(err)
	}
	page := w.Body.String()
	for _, want := range []string{"catalog.csv: line 3: &lt;b&gt;", "<code>garden/new</code> could not be published", "it is empty"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "secret") || strings.Contains(page, "is not JSON") {
		t.Error("the page tells of folders")
	}
}
