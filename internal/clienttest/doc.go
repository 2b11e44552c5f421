// Package clienttest generates clients in TypeScript and Go from the OpenAPI document of a server
// process, compiles them and calls every operation with them. It has only tests.
package clienttest
