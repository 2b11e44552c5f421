// Package body receives the bodies of requests: small ones into a buffer, files and forms as their
// clients send them.
package body
