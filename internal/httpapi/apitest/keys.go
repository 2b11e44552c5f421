package apitest

import (
	"context"
	"sync/atomic"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
)

// Keys accepts keys, whose IDs are the first part of their secrets.
type Keys struct {
	Scopes  map[string][]herb.Scope // by secret
	Err     error                   // returned instead of a result; nil: none
	Asked   atomic.Int64            // number of calls
	Revoked atomic.Bool             // all keys
}

// Verify implements response.Keys.
func (k *Keys) Verify(_ context.Context, secret string, _ admission.Client) (herb.Principal, error) {
	k.Asked.Add(1)
	if k.Err != nil {
		return herb.Principal{}, k.Err
	}
	scopes, ok := k.Scopes[secret]
	if !ok || k.Revoked.Load() {
		return herb.Principal{}, herb.Errorf(herb.CodeUnauthenticated, `there is no such key; "keys create" makes one`)
	}
	return herb.Principal{ID: secret[5:15], Scopes: scopes}, nil
}
