// Package hostiletest attacks a real server process from outside: clients on raw sockets that stall, flood and disconnect,
// crafted files, and disks that are full. It has only tests.
package hostiletest
