package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
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

// Connections by whom they are from, before anything is known of a client: the address, or on this machine the user. Who
// has too many of them has further ones closed at once, so that one cannot use up those of all.

// localName is the name of whoever asks from this machine, and the beginning of the names of its users.
const localName = "local"

type connections struct {
	each int

	mu         sync.Mutex
	open       map[net.Conn]string // by whom
	count      map[string]int
	turnedAway int64
}

func newConnections(each int) *connections {
	return &connections{each: each, open: map[net.Conn]string{}, count: map[string]int{}}
}

type peerKey struct{}

// add counts a connection, closes it if there are too many of its peer, and returns a context that knows the peer.
func (c *connections) add(ctx context.Context, conn net.Conn) context.Context {
	peer := peerOf(conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = peer
	if c.count[peer]++; c.count[peer] > c.each {
		c.turnedAway++
		conn.Close()
	}
	return context.WithValue(ctx, peerKey{}, peer)
}

// changed forgets connections that have ended.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	peer := c.open[conn]
	delete(c.open, conn)
	if c.count[peer]--; c.count[peer] <= 0 {
		delete(c.count, peer)
	}
}

// now returns how many connections are open, and how many were closed at once so far.
func (c *connections) now() (open int, turnedAway int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open), c.turnedAway
}

// peerOf names whom a connection is from.
func peerOf(conn net.Conn) string {
	remote, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return "unknown"
	}
	if !remote.Addr().Unmap().IsLoopback() {
		return remote.Addr().Unmap().WithZone("").String()
	}
	if here, err := netip.ParseAddrPort(conn.LocalAddr().String()); err == nil {
		if user, ok := socketUser(remote, here); ok {
			return localName + ":" + user
		}
	}
	return localName
}

// socketUser returns the number of the user whose socket on this machine has these ends, where the system tells: on Linux.
func socketUser(local, remote netip.AddrPort) (user string, ok bool) {
	port := fmt.Appendf(nil, ":%04X ", local.Port())
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for line := range bytes.Lines(table) {
			if !bytes.Contains(line, port) {
				continue
			}
			// A number, both ends, the state, three columns of queues and times, and the user.
			f := strings.Fields(string(line))
			if len(f) > 7 && f[3] == "01" && isEnd(f[1], local) && isEnd(f[2], remote) {
				return f[7], true
			}
		}
	}
	return "", false
}

// isEnd reports whether a text such as 0100007F:1F90 is an address and a port: words of the address have their bytes in
// the machine's order, and the port is a number.
func isEnd(text string, a netip.AddrPort) bool {
	if !strings.HasSuffix(text, fmt.Sprintf(":%04X", a.Port())) {
		return false
	}
	wide, short := a.Addr().As16(), a.Addr().Unmap()
	words := func(b []byte) (s string) {
		for word := range slices.Chunk(b, 4) {
			s += fmt.Sprintf("%08X", binary.NativeEndian.Uint32(word))
		}
		return s
	}
	address, _, _ := strings.Cut(text, ":")
	return address == words(wide[:]) || short.Is4() && address == words(short.AsSlice())
}
