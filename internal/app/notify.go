package app

import (
	"context"
	"net"
)

// NotifyEnv is the environment variable in which systemd, and what follows its protocol, names its socket.
const NotifyEnv = "NOTIFY_SOCKET"

// What a service manager is told.
const (
	notifyReady    = "READY=1"
	notifyStopping = "STOPPING=1"
)

// notify tells the service manager, if there is one, what state the server is in. A name that begins with @ is one in
// Linux's abstract namespace, which Go writes alike. A manager that cannot be told does not keep the server from serving:
// it decides by itself what it makes of the silence.
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
		opts.Log.Warn("the service manager was not told", "state", state, "err", err)
	}
}
