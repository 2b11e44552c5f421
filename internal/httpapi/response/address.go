package response

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientAddress returns the address of the client of a request, without a zone. It is the peer of
// the connection, unless that is a trusted proxy: then it is the last address in X-Forwarded-For,
// or else in Forwarded, that is not a trusted proxy. Each proxy appends the address of its peer, so
// everything before that one may be forged. It is zero if the peer is unknown.
//
// Options.TrustedProxies must be set only if the proxies write or remove X-Forwarded-For.
func (s *Service) clientAddress(r *http.Request) netip.Addr {
	peer := parseAddress(r.RemoteAddr)
	if !s.isTrustedProxy(peer) {
		return peer
	}
	header, address := r.Header["X-Forwarded-For"], parseAddress
	if len(header) == 0 {
		header, address = r.Header["Forwarded"], forwardedFor
	}
	for _, line := range slices.Backward(header) {
		for more := true; more; {
			var last string
			line, last, more = cutLast(line, ',')
			next := address(strings.TrimSpace(last))
			if !next.IsValid() {
				return peer // the proxy does not know its peer, or conceals it
			}
			peer = next
			if !s.isTrustedProxy(peer) {
				return peer
			}
		}
	}
	return peer
}

func (s *Service) isTrustedProxy(address netip.Addr) bool {
	return slices.ContainsFunc(s.opts.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

// parseAddress parses an IP address with or without a port, and with or without brackets. It
// returns the zero address if it is invalid.
func parseAddress(s string) netip.Addr {
	withPort, err := netip.ParseAddrPort(s)
	address := withPort.Addr()
	if err != nil {
		address, _ = netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")) // zero if it is invalid
	}
	return address.Unmap().WithZone("")
}

// forwardedFor returns the address in an element of the Forwarded header (RFC 7239), such as
// for="[2001:db8::1]:4711";proto=https.
func forwardedFor(element string) netip.Addr {
	for more := true; more; {
		var pair string
		element, pair, more = cutLast(element, ';')
		if name, value, _ := strings.Cut(strings.TrimSpace(pair), "="); strings.EqualFold(name, "for") {
			return parseAddress(strings.Trim(value, `"`))
		}
	}
	return netip.Addr{}
}

// cutLast cuts s around the last separator outside of quotes. found is false if there is none: last
// is s then. It reads from the end, so that what a client wrote before the text of a proxy cannot
// change how that is read.
func cutLast(s string, separator byte) (before, last string, found bool) {
	quoted := false
	for i := len(s) - 1; i >= 0; i-- {
		switch {
		case s[i] == '"' && (i == 0 || s[i-1] != '\\'):
			quoted = !quoted
		case s[i] == separator && !quoted:
			return s[:i], s[i+1:], true
		}
	}
	return "", s, false
}
