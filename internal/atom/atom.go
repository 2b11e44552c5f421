// Package atom writes Atom feeds (RFC 4287).
package atom

import (
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// ContentType is the media type of a feed.
const ContentType = "application/atom+xml; charset=utf-8"

// Feed is a feed. Its texts may contain any characters.
type Feed struct {
	ID        string
	Title     string
	Author    string
	Self      string // absolute address of the feed
	Alternate string // absolute address of the page about the same
	Updated   time.Time
	Entries   []Entry // newest first
}

// Entry is an entry of a feed. Its texts may contain any characters.
type Entry struct {
	ID        string
	Title     string
	Summary   string
	Alternate string // absolute address of the page about the same
	Updated   time.Time
}

// ID returns an identifier that depends on the parts only: a UUID of version 8 (RFC 9562) from
// their hash.
func ID(parts ...string) string {
	sum := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(sum, "%d:%s", len(p), p)
	}
	u := sum.Sum(nil)[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

type document struct {
	XMLName xml.Name  `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string    `xml:"id"`
	Title   string    `xml:"title"`
	Updated string    `xml:"updated"`
	Author  string    `xml:"author>name"`
	Links   []link    `xml:"link"`
	Entries []element `xml:"entry"`
}

type element struct {
	ID      string `xml:"id"`
	Title   string `xml:"title"`
	Updated string `xml:"updated"`
	Links   []link `xml:"link"`
	Summary string `xml:"summary"`
}

type link struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

// Marshal returns the document. Characters that XML does not permit are replaced by U+FFFD.
func (f Feed) Marshal() ([]byte, error) {
	if f.Updated.IsZero() { // a feed without entries has a time, too
		f.Updated = time.Unix(0, 0)
	}
	d := document{
		ID: f.ID, Title: line(f.Title), Updated: f.Updated.UTC().Format(time.RFC3339Nano), Author: line(f.Author),
		Links: []link{{"self", "application/atom+xml", f.Self}, {"alternate", "text/html", f.Alternate}},
	}
	for _, e := range f.Entries {
		d.Entries = append(d.Entries, element{
			ID: e.ID, Title: line(e.Title), Updated: e.Updated.UTC().Format(time.RFC3339Nano),
			Links: []link{{"alternate", "text/html", e.Alternate}}, Summary: herb.Clip(e.Summary, maxText),
		})
	}
	body, err := xml.Marshal(d)
	return append([]byte(xml.Header), body...), err
}

// maxText is the maximum length of a text in bytes.
const maxText = 2000

// line returns a text as one line.
func line(s string) string { return herb.Clip(strings.Join(strings.Fields(s), " "), maxText/4) }
