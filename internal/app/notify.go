package app

import (
	"context"
	"net"
)

// NotifyEnv is the environment variable with the socket of the service manager, as in the systemd protocol.
const NotifyEnv = "NOTIFY_SOCKET"

// notify sends the state of the server to the service manager, if there is one. A name that begins with @ is in the abstract
// namespace of Linux, which Go writes alike. Failures are only logged: the service manager decides what to do without the
// message.
func notify(ctx context.Context, opts ServeOptions, state string) {
	if opts.NotifySocket == "" {
		return
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unixgram", opts.NotifySocket)
	if err == nil {
		defer conn.Close()
		_, err = conn.Write([]byte(state))
	}
	if err != nil {
		opts.Log.Warn("cannot notify service manager", "state", state, "err", err)
	}
}
