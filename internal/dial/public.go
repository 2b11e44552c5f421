package dial

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"herbarium/internal/herb"
)

// reserved returns the networks of IPv4 and of 2000::/3 whose addresses are not public, or lead to
// addresses that are not, from the registries of IANA for special purposes.
func reserved() (all []netip.Prefix) {
	for _, network := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.2.0/24", "192.88.99.0/24",
		"192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"2001::/23",     // protocols, with Teredo
		"2001:db8::/32", // documentation
		"2002::/16",     // 6to4, which contains IPv4 addresses
		"3fff::/20",     // documentation
	} {
		all = append(all, netip.MustParsePrefix(network))
	}
	return all
}

// RequirePublic fails for addresses that are not public. Of IPv6, only 2000::/3 is: outside are
// loopback, link-local, unique local and multicast addresses, and NAT64.
func RequirePublic(a netip.Addr) error {
	public := a.Unmap()
	isPublic := public.Is4() || netip.MustParsePrefix("2000::/3").Contains(public)
	for _, network := range reserved() {
		isPublic = isPublic && !network.Contains(public)
	}
	if !isPublic || a.Zone() != "" {
		return herb.Invalidf("the address %s is not public", a)
	}
	return nil
}

// AllowAny allows every address.
func AllowAny(netip.Addr) error { return nil }

// LookupFunc returns the addresses of a host, which may be an address.
type LookupFunc func(ctx context.Context, host string) ([]netip.Addr, error)

// NewTransport returns a transport for servers that others name: webhooks and fetched files. It
// looks up a name once for each request, and connects to the addresses that were found. check is
// called with each address that it connects to, by the dialer, so that none can be reached in
// another way.
// It does not use the proxy of the environment, which would look up names itself.
func NewTransport(lookup LookupFunc, check func(netip.Addr) error) *http.Transport {
	if lookup == nil {
		lookup = lookupHost
	}
	dialer := net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return check(to.Addr())
	}}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			found, err := lookup(ctx, host)
			if err != nil {
				return nil, err
			}
			err = fmt.Errorf("no address of %s was found", host)
			for _, a := range found {
				var conn net.Conn
				conn, err = dialer.DialContext(ctx, network, net.JoinHostPort(a.Unmap().String(), port))
				if err == nil {
					return conn, nil
				}
			}
			return nil, err
		},
		DisableKeepAlives:      true, // requests are rare, and each looks up the name again
		DisableCompression:     true,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 16 << 10,
	}
}

// lookupHost is a LookupFunc that asks the resolver of the system.
func lookupHost(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", strings.TrimSuffix(host, "."))
}
