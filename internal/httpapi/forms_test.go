package httpapi_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/must"
)

// formPages has a page that receives files, and two that receive forms.
type formPages struct {
	fakePages
	upload func(*httpapi.Page, *http.Request) error
}

func (p formPages) Handlers() map[string]httpapi.PageHandler {
	echo := func(w *httpapi.Page, r *http.Request) error {
		body, err := io.ReadAll(r.Body)
		fmt.Fprint(w, len(body))
		return err
	}
	return map[string]httpapi.PageHandler{
		"POST /files": {Serve: p.upload, Upload: true},
		"POST /small": {Serve: echo},
		"POST /large": {Serve: echo, MaxForm: 1 << 20},
	}
}

// showForm writes what ReceiveFiles gives.
func showForm(w *httpapi.Page, r *http.Request) error {
	fields, err := w.ReceiveFiles(func(fields url.Values, name string, content io.Reader) error {
		body, err := io.ReadAll(content)
		fmt.Fprintf(w, "%s %q (%s); ", name, body, fields.Encode())
		return err
	})
	fmt.Fprint(w, fields.Encode())
	return err
}

const formType = "Content-Type: multipart/form-data; boundary=b"

func formPart(disposition, content string) string {
	return "--b\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n"
}

// TestReceiveFiles receives forms with files. The deadline of requests does not apply to them.
func TestReceiveFiles(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) {
		o.Pages, o.RequestTimeout = formPages{upload: func(w *httpapi.Page, r *http.Request) error {
			if _, limited := r.Context().Deadline(); limited {
				t.Error("the request has a deadline")
			}
			return showForm(w, r)
		}}, time.Second
	})
	field, file := formPart(`name="as"`, "shop/prices"), formPart(`name="file"; filename="a.csv"`, "id\n1")
	for _, tt := range []struct {
		name, body string
		status     int
		want       string // contained
	}{
		{"a file after a field", field + file + "--b--\r\n", 200, `a.csv "id\n1" (as=shop%2Fprices); as=shop%2Fprices`},
		{"two files", file + field + formPart(`name="file"; filename="b.csv"`, "x") + "--b--\r\n", 200,
			`a.csv "id\n1" (); b.csv "x" (as=shop%2Fprices); as=`},
		{"an empty input", field +
			"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\"\r\nContent-Type: " +
			"application/octet-stream\r\n\r\n\r\n--b--\r\n", 200, "as=shop%2Fprices"},
		{"a file without a name",
			"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"\"\r\nContent-Type: " +
				"text/csv\r\n\r\nid\r\n--b--\r\n", 200, ` "id" ()`},
		{"an epilogue", file + "--b--\r\nmore", 200, `a.csv`},
		{"an empty file", formPart(`name="file"; filename="a.csv"`, "") + "--b--\r\n", 200, `a.csv "" ()`},
		{"cut off", field + "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\nid", 400,
			""},
		{"no form", "id\n1", 400, "malformed"},
		{"too many fields", strings.Repeat(formPart(`name="a"`, "b"), 101) + "--b--\r\n", 400, "more than 100 fields"},
		{"a long field", formPart(`name="a"`, strings.Repeat("x", 70_000)) + "--b--\r\n", 413, "larger than 64 KiB"},
		{"long fields", strings.Repeat(formPart(`name="a"`, strings.Repeat("x", 30_000)), 3) + "--b--\r\n", 413,
			"larger than 64 KiB"},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, request("POST", "/files", tt.body, formType))
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s: %d %s", tt.name, w.Code, w.Body)
		}
		if isClosed := w.Header().Get("Connection") == "close"; isClosed != (tt.status != 200) {
			t.Errorf("%s: the connection is closed: %t", tt.name, isClosed)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, request("POST", "/files", "a=b", "Content-Type: application/x-www-form-urlencoded"))
	if w.Code != 400 || !strings.Contains(w.Body.String(), "multipart/form-data") {
		t.Errorf("another form: %d %s", w.Code, w.Body)
	}
}

// TestReceiveFiles_lane checks that a form with files occupies a slot of the lane of uploads, that
// a client that stops sending is rejected, and that the body is not read if the handler fails
// before.
func TestReceiveFiles_lane(t *testing.T) {
	t.Parallel()
	c := lanes(t, 1, nil)
	denied := errors.New("denied")
	var failure error
	s := newService(t, func(o *httpapi.Options) {
		o.Admission, o.UploadStall = c, time.Millisecond
		o.Pages = formPages{upload: func(w *httpapi.Page, r *http.Request) error {
			if failure != nil {
				return failure
			}
			_, err := w.ReceiveFiles(func(_ url.Values, _ string, content io.Reader) error {
				if got := taken(c); !slices.Equal(got, []admission.Lane{admission.Publish}) {
					t.Errorf("a file is received in the lanes %v", got)
				}
				_, err := io.Copy(io.Discard, content)
				return err
			})
			return err
		}}
	})
	server := httptest.NewServer(s)
	defer server.Close()
	send := func() (int, string) {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		must.NoError(t, err)
		defer conn.Close()
		part := formPart(`name="file"; filename="a.csv"`, "id")
		_, err = fmt.Fprintf(conn, "POST /files HTTP/1.1\r\nHost: x\r\n%s\r\nContent-Length: 5000\r\n\r\n%s", formType,
			part[:len(part)-2])
		must.NoError(t, err)
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		must.NoError(t, err)
		defer response.Body.Close()
		message, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(message)
	}
	if status, message := send(); status != 400 || !strings.Contains(message, "stalled") {
		t.Errorf("a client that stops: %d %s", status, message)
	}
	failure = herb.Wrap(herb.CodeForbidden, denied, "no")
	if status, message := send(); status != 403 { // although the rest of the body never arrives
		t.Errorf("a handler that fails first: %d %s", status, message)
	}
	if got := taken(c); len(got) > 0 {
		t.Errorf("lanes %v are occupied afterwards", got)
	}
}

// TestPageForms limits the forms of pages.
func TestPageForms(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) { o.Pages = formPages{upload: showForm} })
	for _, tt := range []struct {
		path         string
		size, status int
	}{{"/small", 32 << 10, 200}, {"/small", 33 << 10, 400}, {"/large", 1 << 20, 200}, {"/large", 1<<20 + 1, 400}} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, request("POST", tt.path, strings.Repeat("x", tt.size)))
		if w.Code != tt.status {
			t.Errorf("%d bytes to %s: %d %s", tt.size, tt.path, w.Code, w.Body)
		}
	}
}

// TestPageForms_rejected checks that no handler runs for a form that another site has sent or that
// is malformed. The site of the public URL is no other site.
func TestPageForms_rejected(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) {
		o.PublicURL = "https://example.org/data"
		o.Pages = formPages{upload: func(w *httpapi.Page, _ *http.Request) error {
			_, err := io.WriteString(w, "1")
			return err
		}}
	})
	const urlencoded = "Content-Type: application/x-www-form-urlencoded"
	for _, tt := range []struct {
		path, body string
		headers    []string
		status     int
		want       string // contained
	}{
		{"/small", "a=1", []string{urlencoded, "Sec-Fetch-Site: cross-site"}, 403, "another site"},
		{"/small", "a=1", []string{urlencoded, "Origin: https://evil.example"}, 403, "another site"},
		{"/files", "", []string{formType, "Sec-Fetch-Site: cross-site"}, 403, "another site"},
		{"/files", "", []string{formType, "Origin: https://example.org"}, 200, "1"},
		{"/small", "a=1", []string{urlencoded, "Origin: https://example.org", "Sec-Fetch-Site: same-site"}, 200, ""},
		{"/small", "a=%zz", []string{urlencoded}, 400, "malformed form"},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, request("POST", tt.path, tt.body, tt.headers...))
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("POST %s %v: %d %s", tt.path, tt.headers, w.Code, w.Body)
		}
	}
}

// TestMayPublish checks who may publish in the browser.
func TestMayPublish(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key, ref string
		status   int
		actor    string
	}{
		{"", "shop/prices", 401, ""}, {unknown, "shop/prices", 401, ""}, {reader, "shop/prices", 403, ""},
		{publisher, "shop/prices", 200, publisher[5:15]}, {onePub, "shop/prices", 200, onePub[5:15]},
		{onePub, "shop/other", 403, ""},
		{publisher, "garden/catalog", 403, ""}, {"", "", 401, ""}, {reader, "", 403, ""}, {unknown, "", 401, ""},
		{onePub, "", 200, onePub[5:15]},
	} {
		s := newService(t, func(o *httpapi.Options) {
			o.Pages = formPages{upload: func(w *httpapi.Page, r *http.Request) error {
				var ref herb.Ref
				if tt.ref != "" {
					ref, _ = herb.ParseRef(tt.ref)
				}
				actor, err := w.MayPublish(ref)
				if err == nil && actor.Origin == "" {
					t.Error("the actor has no address")
				}
				fmt.Fprint(w, actor.ID)
				return err
			}}
		})
		w := httptest.NewRecorder()
		r := request("POST", "/files", "x")
		if tt.key != "" {
			r.AddCookie(&http.Cookie{Name: "key", Value: tt.key})
		}
		s.ServeHTTP(w, r)
		if w.Code != tt.status || tt.status == 200 && w.Body.String() != tt.actor {
			t.Errorf("key %q, dataset %q: %d %s", tt.key, tt.ref, w.Code, w.Body)
		}
		if asked := s.keys.Asked.Load(); asked > 1 {
			t.Errorf("key %q: verified %d times", tt.key, asked)
		}
	}
}
