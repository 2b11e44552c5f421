// Package fetch fetches files from other servers and object stores, and publishes them like files
// that clients send. It fetches from hosts that the operator allows, and connects to public
// addresses only, unless these are listed as well.
package fetch

import (
	"net/netip"
	"net/url"
	"strings"

	"herbarium/internal/blobs"
	"herbarium/internal/dial"
	"herbarium/internal/herb"
)

// Hosts are the hosts and buckets from which files may be fetched. The zero value has none.
type Hosts struct {
	any      bool
	names    []string // host or host:port, in lower case; *.host means every host below it
	networks []netip.Prefix
	buckets  map[string]*url.URL // by name: address with parameters
}

// AnyHost returns all hosts and buckets, at any address: those of a command of the operator.
func AnyHost() Hosts { return Hosts{any: true} }

// ParseHosts parses a list of hosts such as data.example.org, data.example.org:8443, *.gov.uk and
// s3://bucket?region=…, and of addresses and networks that are not public, such as 10.0.0.0/8.
func ParseHosts(list []string) (h Hosts, err error) {
	h.buckets = map[string]*url.URL{}
	for _, item := range list {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		if strings.HasPrefix(item, "s3://") {
			u, err := url.Parse(item)
			if err != nil || blobs.Check(item) != nil || strings.Trim(u.Path, "/") != "" {
				return h, herb.Invalidf("%q is not a bucket; write s3://bucket, perhaps with ?region=… or ?endpoint=…",
					herb.Address(item))
			}
			h.buckets[u.Host] = u
			continue
		}
		if network, err := netip.ParsePrefix(item); err == nil {
			h.networks = append(h.networks, network.Masked())
			continue
		}
		if a, err := netip.ParseAddr(item); err == nil {
			h.networks = append(h.networks, netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()))
		}
		host := strings.ToLower(item)
		name := strings.TrimPrefix(host, "*.")
		if u, err := url.Parse("https://" + name); err != nil || u.Host != name || strings.ContainsAny(name, "*/@") {
			return h, herb.Invalidf("%q is not a host; write a host such as data.example.org or *.gov.uk, a bucket such "+
				"as s3://bucket, or a network such as 10.0.0.0/8", herb.Clip(item, 100))
		}
		h.names = append(h.names, host)
	}
	return h, nil
}

// isEmpty reports whether nothing may be fetched.
func (h Hosts) isEmpty() bool { return !h.any && len(h.names)+len(h.buckets) == 0 }

// check fails if a file must not be fetched from a URL with https.
func (h Hosts) check(u *url.URL) error {
	if u.Scheme != "https" {
		return herb.Invalidf("it leads to an address that does not begin with https://")
	}
	host := strings.ToLower(u.Host)
	host = strings.TrimSuffix(host, ":443")
	if h.any {
		return nil
	}
	for _, name := range h.names {
		suffix, isWildcard := strings.CutPrefix(name, "*")
		if host == name || isWildcard && strings.HasSuffix(host, suffix) {
			return nil
		}
	}
	return notAllowed(herb.Clip(host, 200))
}

// notAllowed returns the error of a host or bucket that is not listed.
func notAllowed(host string) error {
	return herb.Errorf(herb.CodeRejected, "nothing may be fetched from %s; the operator of the server allows it with the "+
		"setting fetch_hosts", host)
}

// checkAddress fails for addresses that are neither public nor listed.
func (h Hosts) checkAddress(a netip.Addr) error {
	if h.any {
		return nil
	}
	for _, network := range h.networks {
		if network.Contains(a.Unmap()) {
			return nil
		}
	}
	return dial.RequirePublic(a)
}

// bucket returns the address of a folder of a bucket.
func (h Hosts) bucket(name, folder string) (string, error) {
	u := &url.URL{Scheme: "s3", Host: name}
	if listed := h.buckets[name]; listed != nil {
		u.RawQuery = listed.RawQuery
	} else if !h.any {
		return "", notAllowed("s3://" + name)
	}
	u.Path = "/" + folder
	return u.String(), nil
}
