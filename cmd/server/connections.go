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
)

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
