package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// forgetAtOnce limits what one batch spends on forgetting.
const expireBatch = 1000

// findRetry returns the outcome of a creation whose idempotency key was used before.
func (b *batch) findReplay(ctx context.Context, r store.IdempotencyKey) (o store.Outcome, found bool, err error) {
	var body []byte
	var tag string
	var tagGiven bool
	err = b.tx.StmtContext(ctx, b.st.findReplay).QueryRowContext(ctx, r.Credential, r.Key).
		Scan(&body, &o.Plant.Name, &tag, &tagGiven)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return store.Outcome{}, false, nil
	case err != nil:
		return store.Outcome{}, false, err
	case !bytes.Equal(body, r.Body[:]):
		return store.Outcome{Err: herb.Invalidf("the idempotency key %q was used before with another body; "+
			"repeat the body exactly, or use a new key for a new plant", r.Key)}, true, nil
	}
	if tagGiven {
		o.Plant.Tag = &tag
	}
	o.Replayed = true
	return o, true, nil
}

// rememberRetry notes what was created under a idempotency key.
func (b *batch) addIdempotencyKey(ctx context.Context, r store.IdempotencyKey, seq int64) error {
	_, err := b.exec(ctx, b.st.addIdempotencyKey, r.Credential, r.Key, r.Body[:], seq, b.now.UnixMicro())
	return err
}

// forgetRetries drops some of the idempotency keys that are too old. Mostly there are none, which one look at an index tells.
func (b *batch) expireIdempotencyKeys(ctx context.Context) error {
	_, err := b.exec(ctx, b.st.expireIdempotencyKeys, b.now.Add(-store.IdempotencyRetention).UnixMicro(), expireBatch)
	return err
}
