package webhooks

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"herbarium/internal/dial"
	"herbarium/internal/herb"
)

// CheckURL fails if events cannot be sent to a URL. private permits addresses that are not public,
// and plain HTTP. The error does not contain the URL.
func CheckURL(raw string, private bool) error {
	const maxURL = 2000
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Fragment != "" ||
		len(raw) > maxURL {
		return herb.Invalidf("invalid URL of a webhook; write https://host/path without #, at most %d bytes", maxURL)
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || port == 0) {
		return herb.Invalidf("invalid port of a webhook; write a number from 1 to 65535")
	}
	if private {
		return nil
	}
	if u.Scheme != "https" {
		return herb.Invalidf("the URL of a webhook must begin with https://")
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // loopback by definition (RFC 6761)
		return herb.Invalidf("the address of localhost is not public")
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return dial.RequirePublic(a)
	}
	return nil
}
