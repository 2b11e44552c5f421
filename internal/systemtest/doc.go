// Package systemtest runs the program as users do, as processes, and has only tests:
//
//   - attack_*: clients on raw sockets that stall, flood and disconnect, and crafted files
//   - fault_*: disks that are full, read-only or slow, and a lack of file descriptors
//   - publish_*: files that are published over HTTP
//   - cluster_*: nodes behind a proxy, with a PostgreSQL server, its standby, and an S3 server
//
// Tests of faults that can be simulated inside a process are in the packages that handle them.
package systemtest
