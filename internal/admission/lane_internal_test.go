package admission

import (
	"testing"
	"time"
)

// TestLane_sharesWork checks that two clients get the same time of a slot, although the requests of
// one are more and work longer at a time, and that a client that was away gets no more than that.
func TestLane_sharesWork(t *testing.T) {
	t.Parallel()
	greedy, honest := ClientOfKey("greedy"), ClientOfKey("honest")
	var l lane
	l.init(Limit{Slots: 1, Queue: 100, Wait: time.Second}, 0)
	if _, admitted := l.enter(greedy, true); !admitted {
		t.Fatal("the lane is full")
	}
	if l.passOn(greedy, time.Hour) != nil { // it works alone
		t.Fatal("there is nobody to pass the slot on to")
	}
	var waiting []*waiter
	for _, client := range []Client{greedy, greedy, greedy, honest} {
		w, _ := l.enter(client, false)
		waiting = append(waiting, w)
	}
	l.leave(greedy, 0)
	piece := map[Client]time.Duration{greedy: 20 * time.Millisecond, honest: time.Millisecond}
	total := map[Client]time.Duration{}
	for range 200 {
		for i, w := range waiting {
			select {
			case <-w.result:
			default:
				continue
			}
			client := w.client.id
			total[client] += piece[client] + admissionCost
			waiting[i], _ = l.enter(client, false) // before it leaves, so that the client stays
			l.leave(client, piece[client])
		}
	}
	if difference := (total[greedy] - total[honest]).Abs(); difference > 2*piece[greedy] {
		t.Errorf("one client has worked %v, the other %v", total[greedy], total[honest])
	}
}
