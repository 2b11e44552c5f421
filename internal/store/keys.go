package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"herbarium/internal/herb"
)

const keyColumns = "id, name, scopes, hash, created, expires, revoked, last_used"

// AddKey stores a new key.
func (s Tables) AddKey(ctx context.Context, k herb.Key) error {
	return s.write(ctx, "adding a key", func(ctx context.Context, tx Tx) error {
		return errors.Join(addKey(ctx, tx, k), addAudit(ctx, tx, herb.AuditEntry{
			Action: herb.AuditKeyCreated, Subject: k.ID,
			Detail: fmt.Sprintf("name %q, scopes %s", k.Name, herb.JoinScopes(k.Scopes, " ")),
		}))
	})
}

// AddKeys stores keys of another database, atomically.
func (s Tables) AddKeys(ctx context.Context, keys []herb.Key) error {
	return s.write(ctx, "adding keys", func(ctx context.Context, tx Tx) error {
		for _, k := range keys {
			if err := addKey(ctx, tx, k); err != nil {
				return err
			}
		}
		return nil
	})
}

func addKey(ctx context.Context, tx Tx, k herb.Key) error {
	result, err := tx.ExecContext(ctx, "INSERT INTO keys ("+keyColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?) "+
		"ON CONFLICT (id) DO NOTHING", k.ID, k.Name, herb.JoinScopes(k.Scopes, " "), k.Hash[:],
		k.Created.UnixMicro(), stamp(k.Expires), stamp(k.Revoked), stamp(k.LastUsed))
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return herb.Invalidf("a key with id %q exists already; choose another id", k.ID)
}

// Keys returns all keys in creation order.
func (s Tables) Keys(ctx context.Context) ([]herb.Key, error) {
	return readRows(ctx, s, "reading keys", scanKey, "SELECT "+keyColumns+" FROM keys ORDER BY created, id")
}

// CountKeys returns the number of keys, and of revoked keys. Keys are never removed and never
// reinstated, so the counts differ after every change.
func (s Tables) CountKeys(ctx context.Context) (total, revoked int, err error) {
	err = s.read(ctx, "counting keys", func(ctx context.Context, tx Tx) error {
		return tx.QueryRowContext(ctx, "SELECT count(*), count(revoked) FROM keys").Scan(&total, &revoked)
	})
	return total, revoked, err
}

func scanKey(rows *sql.Rows) (k herb.Key, err error) {
	var scopes string
	var hash []byte
	if err := rows.Scan(&k.ID, &k.Name, &scopes, &hash, (*stamp)(&k.Created), (*stamp)(&k.Expires),
		(*stamp)(&k.Revoked),
		(*stamp)(&k.LastUsed)); err != nil {
		return herb.Key{}, err
	}
	if copy(k.Hash[:], hash) != len(k.Hash) {
		return herb.Key{}, fmt.Errorf("the hash of key %q has %d bytes instead of %d", k.ID, len(hash), len(k.Hash))
	}
	for scope := range strings.FieldsSeq(scopes) {
		k.Scopes = append(k.Scopes, herb.Scope(scope))
	}
	return k, nil
}

// RevokeKey revokes a key. A revoked key keeps the time of its first revocation.
func (s Tables) RevokeKey(ctx context.Context, id string, at time.Time) error {
	return s.write(ctx, "revoking a key", func(ctx context.Context, tx Tx) error {
		result, err := tx.ExecContext(ctx, "UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL",
			at.UnixMicro(), id)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return err
		}
		if n == 1 {
			return addAudit(ctx, tx, herb.AuditEntry{Action: herb.AuditKeyRevoked, Subject: id})
		}
		err = tx.QueryRowContext(ctx, "SELECT 1 FROM keys WHERE id = ?", id).Scan(&n)
		if errors.Is(err, sql.ErrNoRows) {
			return herb.Errorf(herb.CodeNotFound, "no such key %q", id)
		}
		return err
	})
}

// TouchKeys records when keys were last used. A time never moves back, regardless of the order of
// processes, and unknown keys are ignored.
func (s Tables) TouchKeys(ctx context.Context, used map[string]time.Time) error {
	if len(used) == 0 {
		return nil
	}
	return s.write(ctx, "recording the use of keys", func(ctx context.Context, tx Tx) error {
		for id, at := range used {
			if err := exec(ctx, tx, "UPDATE keys SET last_used = ? WHERE id = ? AND coalesce(last_used < ?, TRUE)",
				at.UnixMicro(), id, at.UnixMicro()); err != nil {
				return err
			}
		}
		return nil
	})
}
