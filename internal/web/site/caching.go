package site

import (
	"net/http"
	"time"

	"herbarium/internal/etag"
	"herbarium/internal/query"
)

// Tag returns the entity tag of a page that depends on parts besides the templates and assets.
func (p *Site) Tag(parts ...string) string {
	return etag.New(p.Opts.Version, append([]string{p.assets().folder}, parts...)...)
}

// TagOfQuery returns a query string as a part of an entity tag: with the time until which the
// response stays as it is if its filters move with time, and with the rules of other forms if its
// words have some.
func TagOfQuery(raw string) string {
	s, tag := query.Split(raw), raw
	if at := s.MovesAt(time.Now()); !at.IsZero() {
		tag += " " + at.UTC().String()
	}
	return tag + s.FormsKey()
}

// fileRepresentation is incremented when a release changes the bytes of pictures or documents about
// unchanged versions, so that clients fetch them again.
const fileRepresentation = "2"

// FileTag returns the entity tag of a picture or a document that parts determine. Unlike those of
// pages, which name the assets of the program, it does not depend on the release.
func FileTag(parts ...string) string { return etag.New(fileRepresentation, parts...) }

// MatchTag sets the entity tag of a response. It responds with 304 if the client has that response,
// and reports whether it did.
func MatchTag(w http.ResponseWriter, r *http.Request, tag string) bool {
	w.Header().Set("Etag", tag)
	if !etag.Match(r.Header, tag) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}
