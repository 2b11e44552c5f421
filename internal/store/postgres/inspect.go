package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
)

// Inspection describes a database server and the schema of the database.
type Inspection struct {
	Version  int64  // of the schema; 0 if the database is new
	Latest   int64  // version of the schema that this program uses
	Server   string // version of the server
	ReadOnly bool   // the server is a standby, or set to read-only
	Exposed  bool   // the connection leaves this machine and is not encrypted
	// ClockOffset is the time of the server minus the local time. Accuracy is half the time of the request.
	ClockOffset, Accuracy time.Duration
}

// Inspect connects to the database at an address and describes it. Unlike a Store, it does not migrate the schema. The error
// explains why the database cannot be used and how to fix it.
func Inspect(ctx context.Context, address string) (i Inspection, err error) {
	i.Latest = latest
	config, err := configure(address, Options{}.withDefaults())
	if err != nil {
		return i, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return i, setupError(config.ConnConfig, err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return i, setupError(config.ConnConfig, i.read(ctx, conn))
}

func (i *Inspection) read(ctx context.Context, conn *pgx.Conn) (err error) {
	addr, remote := conn.PgConn().Conn().RemoteAddr().(*net.TCPAddr)
	_, encrypted := conn.PgConn().Conn().(*tls.Conn)
	i.Exposed = remote && !addr.IP.IsLoopback() && !encrypted
	var readOnly string
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version'), current_setting('transaction_read_only')").
		Scan(&i.Server, &readOnly); err != nil {
		return err
	}
	i.ReadOnly = readOnly == "on"
	var now time.Time
	sent := time.Now()
	if err := conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now); err != nil {
		return err
	}
	i.Accuracy = time.Since(sent) / 2
	i.ClockOffset = now.Sub(sent.Add(i.Accuracy))
	i.Version, _, err = schemaVersion(conn.QueryRow(ctx, selectSchema))
	return err
}
