package postgres

import "context"

// lanes divide the connections of the pool. Reads never occupy all of them, so that a write finds one; expensive reads
// occupy only some of those, so that cheap reads find one.
type lanes struct {
	reads, scans chan struct{} // one element per running call
}

func newLanes(conns int) lanes {
	reads := max(conns-1, 1) // a pool of one cannot be divided
	return lanes{reads: make(chan struct{}, reads), scans: make(chan struct{}, max(reads/2, 1))}
}

// lane is the sequence of semaphores that a call acquires before it takes a connection.
type lane []chan struct{}

func (l lanes) cheap() lane     { return lane{l.reads} }
func (l lanes) expensive() lane { return lane{l.scans, l.reads} }

// enter acquires the semaphores and returns a function that releases them.
func (l lane) enter(ctx context.Context) (release func(), err error) {
	entered := 0
	release = func() {
		for _, places := range l[:entered] {
			<-places
		}
	}
	for _, places := range l {
		select {
		case places <- struct{}{}:
			entered++
		case <-ctx.Done():
			release()
			return nil, ctx.Err()
		}
	}
	return release, nil
}
