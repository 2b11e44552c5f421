package herb

import (
	"encoding/json"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// FetchSource is where the file of a dataset is fetched from, and when. It is zero if the file is
// not fetched.
type FetchSource struct {
	Address       string  `json:"address"` // as CheckFetchAddress accepts it
	Refresh       Refresh `json:"refresh"`
	Credentials   string  `json:"credentials,omitempty"`    // name of those of the server; empty: none
	AllowBreaking bool    `json:"allow_breaking,omitempty"` // editions that would be rejected are published
}

// MaxFetchAddress is the maximum length of an address in bytes.
const MaxFetchAddress = 2000

// IsFetchAddress reports whether the path of a resource is an address.
func IsFetchAddress(path string) bool {
	return strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "s3://")
}

// CheckFetchAddress fails if no file can be fetched from an address, or if it contains a secret.
// The error does not contain the address.
func CheckFetchAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || !IsFetchAddress(address) || u.Hostname() == "" || len(address) > MaxFetchAddress:
		return Invalidf("the path is not an address to fetch from; write https://host/file or s3://bucket/key, at "+
			"most %d bytes", MaxFetchAddress)
	case u.User != nil:
		return Invalidf("the address contains a user or a password; name credentials of the server instead: refresh: " +
			"{every: 1h, credentials: NAME}")
	case u.Scheme == "s3" && (u.RawQuery != "" || u.Fragment != "" || u.Port() != ""):
		return Invalidf("the address of an object is s3://bucket/key, without parameters")
	}
	for name := range u.Query() {
		if isCredential(name) && name != "rlkey" { // of links that Dropbox shares
			return Invalidf("the parameter %q of the address is a secret; name credentials of the server instead: "+
				"refresh: {every: 1h, credentials: NAME}", Clip(name, 100))
		}
	}
	return nil
}

// isCredential reports whether a parameter is a credential by the end of its name.
func isCredential(name string) bool {
	name = strings.NewReplacer("_", "", "-", "", "$", "").Replace(strings.ToLower(name))
	for _, word := range []string{"key", "token", "password", "passwd", "secret", "signature", "sig", "credential"} {
		if strings.HasSuffix(name, word) {
			return true
		}
	}
	return false
}

// FetchFile returns the name of the file at an address; empty if the address has none.
func FetchFile(address string) string {
	u, err := url.Parse(address)
	if err != nil || strings.HasSuffix(u.Path, "/") {
		return ""
	}
	name := path.Base(u.Path)
	if name == "." || name == "/" || strings.Contains(name, "*") {
		return ""
	}
	return name
}

// sharedPages are the addresses of pages that show a file, and the address of the file itself.
func sharedPages() []struct{ service, page, file string } {
	return []struct{ service, page, file string }{
		{"Google Sheets", `^https://docs\.google\.com/spreadsheets/d/([\w-]+)/(?:edit|view|htmlview)[^#]*?(?:[?&#]gid=(\d+).*|[?#].*)?$`,
			"https://docs.google.com/spreadsheets/d/$1/export?format=csv&gid=$2"},
		{"GitHub", `^https://github\.com/([^/]+)/([^/]+)/(?:blob|raw)/([^?#]+)(?:[?#].*)?$`,
			"https://raw.githubusercontent.com/$1/$2/$3"},
		{"GitLab", `^https://gitlab\.com/([^?#]+?)/-/blob/([^?#]+)(?:[?#].*)?$`, "https://gitlab.com/$1/-/raw/$2"},
		{"Dropbox", `^https://www\.dropbox\.com/((?:s|scl/fi)/[^?#]+)(?:\?(rlkey=\w+))?.*$`,
			"https://www.dropbox.com/$1?$2&dl=1"},
	}
}

// DownloadAddress returns the address of the file that an address shows, and the service whose page
// it is; the address itself and no service if it is not the address of a known page.
func DownloadAddress(address string) (download, service string) {
	for _, p := range sharedPages() {
		page := regexp.MustCompile(p.page)
		if page.MatchString(address) {
			file := page.ReplaceAllString(address, p.file)
			return strings.NewReplacer("&gid=&", "&", "?&", "?").Replace(strings.TrimSuffix(file, "&gid=")), p.service
		}
	}
	return address, ""
}

// newFetchSource returns the source of a resource that is fetched. path and refresh are its
// members.
func newFetchSource(path, refresh json.RawMessage) (s FetchSource) {
	var o struct {
		Every         Refresh
		Credentials   string
		AllowBreaking bool `json:"allow_breaking"`
	}
	if json.Unmarshal(refresh, &o.Every) != nil && json.Unmarshal(refresh, &o) != nil ||
		json.Unmarshal(path, &s.Address) != nil {
		return FetchSource{}
	}
	s = FetchSource{s.Address, o.Every, o.Credentials, o.AllowBreaking}
	if r, err := ParseRefresh(string(s.Refresh)); err != nil || r != s.Refresh || CheckFetchAddress(s.Address) != nil {
		return FetchSource{}
	}
	return s
}
