// Package app assembles the program: from a configuration to a running server.
package app
