package response

import (
	"net/http/httptest"
	"net/netip"
	"testing"
)

// TestClientAddress derives the address of a client behind no, one and two proxies, some of whom it
// tries to deceive.
func TestClientAddress(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48")}
	const xff, fwd = "X-Forwarded-For", "Forwarded"
	for _, tc := range []struct {
		name, peer string
		header     [][2]string
		want       string
	}{
		{"no header", "192.0.2.7:4711", nil, "192.0.2.7"},
		{"from a client", "192.0.2.7:4711", [][2]string{{xff, "198.51.100.1"}, {fwd, "for=198.51.100.1"}}, "192.0.2.7"},
		{"proxy without header", "10.0.0.1:80", nil, "10.0.0.1"},
		{"proxy", "10.0.0.1:80", [][2]string{{xff, "198.51.100.1"}}, "198.51.100.1"},
		{"mapped proxy", "[::ffff:10.0.0.1]:80", [][2]string{{xff, "::ffff:198.51.100.1"}}, "198.51.100.1"},
		{"two proxies", "10.0.0.1:80", [][2]string{{xff, "198.51.100.1, 10.0.0.2"}}, "198.51.100.1"},
		{"two lines", "10.0.0.1:80", [][2]string{{xff, "203.0.113.9, 198.51.100.1"}, {xff, "10.0.0.2"}},
			"198.51.100.1"},
		{"forged", "10.0.0.1:80", [][2]string{{xff, "203.0.113.9,198.51.100.1"}}, "198.51.100.1"},
		{"forged as a proxy", "10.0.0.1:80", [][2]string{{xff, "10.0.0.3, 198.51.100.1, 10.0.0.2"}}, "198.51.100.1"},
		{"forged by quotes", "10.0.0.1:80", [][2]string{{xff, `"203.0.113.9, 198.51.100.1`}}, "198.51.100.1"},
		{"forged by another header", "10.0.0.1:80", [][2]string{{fwd, "for=203.0.113.9"}, {xff, "198.51.100.1"}},
			"198.51.100.1"},
		{"proxies only", "10.0.0.1:80", [][2]string{{xff, "10.0.0.3, 10.0.0.2"}}, "10.0.0.3"},
		{"concealed", "10.0.0.1:80", [][2]string{{xff, "198.51.100.1, unknown, 10.0.0.2"}}, "10.0.0.2"},
		{"empty", "10.0.0.1:80", [][2]string{{xff, ""}}, "10.0.0.1"},
		{"with port", "10.0.0.1:80", [][2]string{{xff, "198.51.100.1:55"}}, "198.51.100.1"},
		{"IPv6", "[2001:db8:1::5]:80", [][2]string{{xff, "2001:db8:2::1"}}, "2001:db8:2::1"},
		{"IPv6 with port", "10.0.0.1:80", [][2]string{{xff, "[2001:db8:2::1]:55"}}, "2001:db8:2::1"},
		{"IPv6 with zone", "10.0.0.1:80", [][2]string{{xff, "fe80::1%eth0"}}, "fe80::1"},
		{"Forwarded", "10.0.0.1:80", [][2]string{{fwd, `for=203.0.113.9, for=198.51.100.1;proto=https;by=10.0.0.1`}},
			"198.51.100.1"},
		{"Forwarded, IPv6", "10.0.0.1:80", [][2]string{{fwd, `proto=https;For="[2001:db8:2::1]:4711"`}},
			"2001:db8:2::1"},
		{"Forwarded, commas in quotes", "10.0.0.1:80", [][2]string{{fwd, `for=198.51.100.1;host="a, for=203.0.113.9"`}},
			"198.51.100.1"},
		{"Forwarded, concealed", "10.0.0.1:80", [][2]string{{fwd, `for=198.51.100.1, for=_hidden`}}, "10.0.0.1"},
		{"Forwarded without for", "10.0.0.1:80", [][2]string{{fwd, `proto=https`}}, "10.0.0.1"},
		{"no address", "@", [][2]string{{xff, "198.51.100.1"}}, "invalid IP"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a := &Service{opts: Options{TrustedProxies: trusted}}
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = tc.peer
			for _, h := range tc.header {
				r.Header.Add(h[0], h[1])
			}
			if got := a.clientAddress(r).String(); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if untrusting := (&Service{}).clientAddress(r).String(); untrusting != parseAddress(tc.peer).String() {
				t.Errorf("without trusted proxies: %s", untrusting)
			}
		})
	}
}
