package blobs

import (
	"context"
	"time"
)

// DefaultStall is the default of Options.Stall.
const DefaultStall = 30 * time.Second

// Options are the options of a Bucket.
type Options struct {
	// Stall is how long a request may go without transferring a byte in either direction; zero means DefaultStall. The
	// duration of a request that makes progress is not limited.
	Stall time.Duration
}

// Bucket is a bucket of an object store, or a prefix in one, or a folder.
type Bucket struct {
	driver driver
	name   string // the address without parameters, for messages
}

// Open opens the object store at an address. It does not contact the store, which may be unavailable now and back later;
// use Ping to check it.
func Open(_ context.Context, at string, opts Options) (*Bucket, error) {
	a, err := parse(at)
	if err != nil {
		return nil, err
	}
	if opts.Stall == 0 {
		opts.Stall = DefaultStall
	}
	b := &Bucket{name: a.String()}
	if a.scheme == fileScheme {
		b.driver, err = openFolder(a)
	} else {
		b.driver, err = openS3(a, opts.Stall)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Close closes idle connections. The Bucket must not be used afterwards.
func (b *Bucket) Close() error {
	b.driver.close()
	return nil
}
