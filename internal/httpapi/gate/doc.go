// Package gate is the gate to datasets. Listings and pages pass it: it opens the dataset of the
// path, selects the version that the query string names, decides whether the client may read
// records or publish, and sets how responses are cached.
package gate
