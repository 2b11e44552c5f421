package store

import (
	"context"
	"time"
)

// Claim claims work for a program until a time, or extends its claim. It reports false, and does
// nothing, if another program has claimed the work and the claim has not expired.
func (s Tables) Claim(ctx context.Context, name, holder string, now, until time.Time) (claimed bool, err error) {
	err = s.write(ctx, "claiming work", func(ctx context.Context, tx Tx) error {
		n, err := execCount(ctx, tx,
			"INSERT INTO claims (name, holder, until) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE "+
				"SET holder = excluded.holder, until = excluded.until WHERE claims.holder = excluded.holder OR "+
				"claims.until <= ?",
			name, holder, until.UnixMicro(), now.UnixMicro())
		claimed = n > 0
		return err
	})
	return claimed && err == nil, err
}

// EndClaim removes the claim of a program, and all claims that have expired.
func (s Tables) EndClaim(ctx context.Context, name, holder string, now time.Time) error {
	return s.writeOne(ctx, "ending a claim", "DELETE FROM claims WHERE name = ? AND holder = ? OR until <= ?",
		name, holder, now.UnixMicro())
}
