//go:build unix

package pgtest

import (
	"net/url"
	"testing"
)

// Standby is a server that replicates a cluster and can be promoted. It ends with the cluster.
type Standby struct{ *server }

// Standby starts a synchronous standby of the cluster: from then on, a commit succeeds once both servers have it on disk.
func (c *Cluster) Standby(t testing.TB) *Standby {
	t.Helper()
	c.launch(t)
	s := &server{}
	c.standbys = append(c.standbys, s)
	s.init(t, c.bin, c.TCP)
	s.run(t, "pg_basebackup", "--pgdata="+s.data(), "--dbname=host="+c.folder+" port="+c.port+" user=postgres",
		"--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--wal-method=stream")
	s.start(t, c.settings()...)
	c.exec(t, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
	c.wait(t, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")
	return &Standby{s}
}

// Promote makes the standby the primary.
func (s *Standby) Promote(t testing.TB) {
	t.Helper()
	s.exec(t, "SELECT pg_promote(true, 60)")
}

// Alone returns the address of a database of the cluster on the standby.
func (s *Standby) Alone(address string) string { return s.redirect(address, false) }

// Both returns the address of a database of the cluster that names both servers and requests the primary.
func (s *Standby) Both(address string) string { return s.redirect(address, true) }

// redirect changes an address of Database so that it leads to the standby, or to both servers.
func (s *Standby) redirect(address string, both bool) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // it comes from Database
	}
	query := u.Query()
	host, port := query.Get("host"), s.port
	if host != loopback {
		host = s.folder
	}
	if both {
		host, port = query.Get("host")+","+host, query.Get("port")+","+port
		query.Set("target_session_attrs", "read-write")
	}
	query.Set("host", host)
	query.Set("port", port)
	u.RawQuery = query.Encode()
	return u.String()
}
