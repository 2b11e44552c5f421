// Package connection limits connections: how many there are, how long their clients may delay, and
// which of them are evicted when there is no room.
package connection
