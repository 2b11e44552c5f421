// Package faulttest breaks what the program depends on: the clock, the disk and file descriptors. It has only tests; those of
// other faults are in the packages that handle them.
package faulttest
