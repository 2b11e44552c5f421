package httpapi_test

import (
	"bytes"
	"context"
	"mime/multipart"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
)

// TestPutSource_contradictions sends parameters and parts twice: nothing is published.
func TestPutSource_contradictions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, query string
		parts       []string // name=value
		headers     []string
		status      int
		want        string
	}{
		{"access in the query and in the form", "?_access=key", []string{"file=a\n1\n", "_access=open"}, nil, 400,
			`\"_access\" is given more than once`},
		{"access in the form before the file", "?_access=key", []string{"_access=open", "file=a\n1\n"}, nil, 400,
			"given more than once"},
		{"the same value", "?_access=key", []string{"file=a\n1\n", "_access=key"}, nil, 400, "given more than once"},
		{"twice in the form", "", []string{"file=a\n1\n", "_access=key", "_access=open"}, nil, 400,
			"given more than once"},
		{"twice in the query", "?_access=key&_access=open", []string{"file=a\n1\n"}, nil, 400, "given more than once"},
		{"two descriptors", "", []string{"file=a\n1\n", `descriptor={"resources":[{"name":"prices"}]}`,
			`descriptor={"resources":[{"name":"prices","herbarium":{"access":"key"}}]}`}, nil, 400,
			"given more than once"},
		{"two files", "", []string{"file=a\n1\n", "file=a\n2\n"}, nil, 400, "given more than once"},
		{"an empty descriptor and another", "",
			[]string{"file=a\n1\n", "descriptor=", `descriptor={"resources":[{"name":"prices"}]}`}, nil, 400,
			"given more than once"},
		{"part of a file", "", []string{"file=a\n1\n"}, []string{"Content-Range: bytes 0-3/8"}, 400, "Content-Range"},
		{"once", "?_access=key", []string{"file=a\n1\n", "_force=true"}, nil, 201, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPublishing(t, nil)
			var b bytes.Buffer
			form := multipart.NewWriter(&b)
			for _, part := range tt.parts {
				name, value, _ := strings.Cut(part, "=")
				must.NoError(t, form.WriteField(name, value))
			}
			must.NoError(t, form.Close())
			a := p.put(t, tt.query, b.String(), append(tt.headers, "Content-Type: "+form.FormDataContentType())...)
			if a.status != tt.status || !strings.Contains(a.body, tt.want) {
				t.Errorf("got %d %s", a.status, a.body)
			}
			if version := p.liveVersion(t); (version != "") != (tt.status == 201) {
				t.Errorf("version %q", version)
			}
		})
	}
	p := newPublishing(t, nil)
	p.put(t, "", "a\n1\n")
	for _, method := range []string{"PUT", "PATCH"} {
		a := p.do(t, request(method, pricesPath+"/source", "a\n2\n", "X-API-Key: "+publisher,
			"Content-Range: bytes 0-3/8"))
		if a.status != 400 || p.live(t) != `{"a":"1"}` {
			t.Errorf("%s of a part: %d %s", method, a.status, a.body)
		}
	}
	if a := p.send(t, "POST", "/rollback",
		`{"to": "20240229T133000Z-abcdefghij", "to": "20240229T133000Z-abcdefghik"}`); a.status != 400 ||
		!strings.Contains(a.body, "with one member") {
		t.Errorf("two targets of a rollback: %d %s", a.status, a.body)
	}
}

// TestPutSource_revokedKey revokes a key while its file is published: the version does not go live,
// and the audit log tells why.
func TestPutSource_revokedKey(t *testing.T) {
	t.Parallel()
	var p *publishSite
	revoke := false
	p = newPublishing(t, func(o *publishingOptions) {
		o.Publisher = pausedPublisher{o.Publisher, func(context.Context) {
			if revoke {
				p.keys.Revoked.Store(true)
			}
		}}
	})
	p.put(t, "", "a\n1\n")
	revoke = true
	a := p.put(t, "", "a\n1\n2\n")
	if a.status != 401 || !strings.Contains(a.body,
		"the key was revoked or has expired since the request arrived; nothing has changed") ||
		p.live(t) != `{"a":"1"}` {
		t.Errorf("got %d %s; live: %s", a.status, a.body, p.live(t))
	}
	entries, err := p.store.AuditEntries(t.Context(), herb.AuditQuery{Limit: 1})
	must.NoError(t, err)
	if len(entries) != 1 || entries[0].Result != herb.AuditFailed ||
		!strings.Contains(entries[0].Detail, "the key was revoked") {
		t.Errorf("audit log: %+v", entries)
	}
}
