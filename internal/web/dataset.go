package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

// datasetHead is what all pages of a dataset begin with.
type datasetHead struct {
	Base        string
	Ref         herb.Ref
	Path        string // of the data browser
	API         string // of the listing
	Name        string
	Description string
	Records     int
	Fields      int
	Published   time.Time
	Locked      bool   // it needs a key
	Unlocked    bool   // and the browser keeps one that opens it
	Living      bool   // it grows by itself
	Tab         string // "data", "api" or "versions"
	License     *license
}

type license struct{ Name, Href string }

func (p *Pages) datasetHead(d herb.Dataset, tab string) datasetHead {
	return datasetHead{
		Base: p.base, Ref: d.Ref, Path: p.datasetPath(d.Ref), API: p.base + pathAPI + d.Ref.String() + "/data", Name: nameOf(d),
		Description: d.Description, Records: d.Records, Fields: len(d.Fields), Published: d.Published,
		Locked: d.Access == herb.AccessKey, Living: d.Ref == herb.PlantsRef, Tab: tab, License: licenseOf(readDescriptor(d)),
	}
}

func (p *Pages) datasetPath(ref herb.Ref) string { return p.base + pathDatasets + ref.String() }

// nameOf returns what people call a dataset.
func nameOf(d herb.Dataset) string {
	if strings.TrimSpace(plainText(d.Title)) != "" {
		return d.Title
	}
	return d.Ref.String()
}

// descriptor is what pages show of what a publisher wrote about a dataset.
type descriptor struct {
	Keywords []string `json:"keywords"`
	Homepage string   `json:"homepage"`
	Licenses []struct {
		Name, Title, Path string
	} `json:"licenses"`
}

// readDescriptor reads what it can: publishers write all kinds of things. What is said of the file goes before what is said of
// the package. Of a dataset that needs a key nothing is taken, because descriptors may quote values.
func readDescriptor(d herb.Dataset) descriptor {
	var out descriptor
	var parts struct{ Package, Resource map[string]json.RawMessage }
	if d.Access == herb.AccessKey || json.Unmarshal(d.Descriptor, &parts) != nil {
		return out
	}
	// One by one, so that a member that is written otherwise does not hide the rest.
	for _, members := range []map[string]json.RawMessage{parts.Package, parts.Resource} {
		_ = json.Unmarshal(members["keywords"], &out.Keywords)
		_ = json.Unmarshal(members["homepage"], &out.Homepage)
		_ = json.Unmarshal(members["licenses"], &out.Licenses)
	}
	out.Keywords = slices.DeleteFunc(out.Keywords, func(s string) bool { return strings.TrimSpace(s) == "" })
	return out
}

// licenseOf returns the first licence.
func licenseOf(d descriptor) *license {
	for _, l := range d.Licenses {
		name := l.Title
		if name == "" {
			name = l.Name
		}
		if name == "" {
			name = l.Path
		}
		if name == "" {
			continue
		}
		out := &license{Name: name}
		if webAddress(l.Path) {
			out.Href = l.Path
		}
		return out
	}
	return nil
}

// acquire finds the dataset that a path names. The caller releases it.
func (p *Pages) acquire(r *http.Request) (library.Snapshot, error) {
	ref := refOf(r)
	if !herb.ValidName(ref.Namespace) || !herb.ValidName(ref.Name) {
		return library.Snapshot{}, herb.Errorf(herb.CodeNotFound, "there is no such dataset; the catalogue lists what there is")
	}
	return p.opts.Library.Acquire(r.Context(), ref)
}

func refOf(r *http.Request) herb.Ref {
	return herb.Ref{Namespace: r.PathValue("namespace"), Name: r.PathValue("dataset")}
}

// setCaching says who may keep a copy of a page of a dataset: nobody without asking again, and of what a key has opened
// only the browser.
func setCaching(w http.ResponseWriter, d herb.Dataset) {
	h := w.Header()
	if d.Access == herb.AccessKey {
		h.Set("Cache-Control", "private, no-cache")
		h.Set("Vary", "Cookie, Accept")
		return
	}
	h.Set("Cache-Control", "no-cache")
}
