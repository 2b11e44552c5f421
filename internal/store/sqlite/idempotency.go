package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// expireBatch limits how many expired keys one batch deletes.
const expireBatch = 1000

// findReplay returns the outcome of a creation whose idempotency key was used before.
func (b *batch) findReplay(ctx context.Context, k store.IdempotencyKey) (o store.Outcome, found bool, err error) {
	var body []byte
	var tag string
	var tagGiven bool
	err = b.tx.StmtContext(ctx, b.st.findReplay).QueryRowContext(ctx, k.Credential, k.Key).
		Scan(&body, &o.Plant.Name, &tag, &tagGiven)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return store.Outcome{}, false, nil
	case err != nil:
		return store.Outcome{}, false, err
	case !bytes.Equal(body, k.Body[:]):
		return store.Outcome{Err: herb.Invalidf("the idempotency key %q was used before with another body; "+
			"repeat the body exactly, or use a new key for a new plant", k.Key)}, true, nil
	}
	if tagGiven {
		o.Plant.Tag = &tag
	}
	o.Replayed = true
	return o, true, nil
}

// addIdempotencyKey stores the idempotency key of a created plant.
func (b *batch) addIdempotencyKey(ctx context.Context, k store.IdempotencyKey, seq int64) error {
	_, err := b.exec(ctx, b.st.addIdempotencyKey, k.Credential, k.Key, k.Body[:], seq, b.now.UnixMicro())
	return err
}

// expireIdempotencyKeys deletes some of the expired idempotency keys. Usually there are none, which one index lookup shows.
func (b *batch) expireIdempotencyKeys(ctx context.Context) error {
	_, err := b.exec(ctx, b.st.expireIdempotencyKeys, b.now.Add(-store.IdempotencyRetention).UnixMicro(), expireBatch)
	return err
}
