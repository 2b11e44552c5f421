// Package app puts the program together: from a configuration to a running server.
package app
