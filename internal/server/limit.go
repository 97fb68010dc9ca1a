package server

import (
	"context"
	"net/http"
	"sync"
)

// A limiter bounds how many requests are in the house: running at once, in all, and of one client.
type limiter struct {
	running chan struct{}

	mu       sync.Mutex
	inside   int
	byClient map[string]int

	all, each int
}

func newLimiter(running, all, each int) *limiter {
	return &limiter{running: make(chan struct{}, running), byClient: map[string]int{}, all: all, each: each}
}

// enter lets a request of a client in; leave must follow if there is no problem.
func (l *limiter) enter(client string) (leave func(), p *problem) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.byClient[client] >= l.each:
		return nil, refuse(http.StatusTooManyRequests, kindUnavailable, "", "too many requests of this client are not answered yet")
	case l.inside >= l.all:
		return nil, refuse(http.StatusServiceUnavailable, kindUnavailable, "", "too many requests are not answered yet")
	}
	l.inside++
	l.byClient[client]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.inside--
		if l.byClient[client]--; l.byClient[client] == 0 {
			delete(l.byClient, client)
		}
	}, nil
}

// start waits until the request may run; done must follow if it returns nil.
func (l *limiter) start(ctx context.Context) (done func(), err error) {
	select {
	case l.running <- struct{}{}:
		return func() { <-l.running }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// now returns how many requests are in the house and how many of them run.
func (l *limiter) now() (inside, running int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inside, len(l.running)
}
