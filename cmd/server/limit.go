package server

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// A lane bounds how many requests of one kind are inside the server, and shares out the places at work: whenever one is
// free, it goes to the client that has the fewest, of several to the one that got none for the longest time. One client
// has no more than half of the places, since a request keeps its place until it is answered.
//
// Questions and spends have a lane each, so that no number of questions keeps a spend waiting.
type lane struct {
	name                     string
	places, all, each, share int

	mu             sync.Mutex
	inside, atWork int
	turns          int // given so far
	guests         map[string]*guest
	waits          timed // of requests that got a turn or gave up
}

// A guest is a client with requests inside.
type guest struct {
	inside, atWork int
	last           int             // the latest turn that it got
	queue          []chan struct{} // closed when it is the request's turn
}

func newLane(name string, running, all, each int) *lane {
	return &lane{name: name, places: running, all: all, each: each, share: (running + 1) / 2, guests: map[string]*guest{}}
}

// enter lets a request of a client in; leave must follow if there is no problem.
func (l *lane) enter(client string) (leave func(), p *problem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.guests[client]
	switch {
	case g != nil && g.inside >= l.each:
		return nil, refuse(http.StatusTooManyRequests, kindUnavailable, "", "too many requests of this client are not answered yet")
	case l.inside >= l.all:
		return nil, refuse(http.StatusServiceUnavailable, kindUnavailable, "", "too many requests are not answered yet")
	case g == nil:
		g = &guest{}
		l.guests[client] = g
	}
	l.inside++
	g.inside++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.inside--
		if g.inside--; g.inside == 0 {
			delete(l.guests, client)
		}
	}, nil
}

// start waits until it is the turn of a request of a client that has entered; done must follow if it returns nil.
func (l *lane) start(ctx context.Context, client string) (done func(), err error) {
	began, turn := time.Now(), make(chan struct{})
	l.mu.Lock()
	g := l.guests[client]
	g.queue = append(g.queue, turn)
	l.give()
	l.mu.Unlock()
	select {
	case <-turn:
	case <-ctx.Done():
		err = ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits.add(time.Since(began))
	done = func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.atWork--
		g.atWork--
		l.give()
	}
	if i := slices.Index(g.queue, turn); i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
		return nil, err
	}
	return done, nil // also if the time ended just now: the service sees that, too
}

// give gives places that are free to requests that wait. It is called with the lock.
func (l *lane) give() {
	for l.atWork < l.places {
		var next *guest
		for _, g := range l.guests {
			if len(g.queue) == 0 || g.atWork >= l.share {
				continue
			}
			if next == nil || g.atWork < next.atWork || g.atWork == next.atWork && g.last < next.last {
				next = g
			}
		}
		if next == nil {
			return
		}
		l.atWork++
		l.turns++
		next.atWork, next.last = next.atWork+1, l.turns
		close(next.queue[0])
		next.queue = next.queue[1:]
	}
}

// A load is how full a lane is.
type load struct {
	inside, waiting, atWork int
	waits                   timed
}

func (l *lane) now() load {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := load{inside: l.inside, atWork: l.atWork, waits: l.waits}
	for _, g := range l.guests {
		n.waiting += len(g.queue)
	}
	return n
}
