package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dpaccountant/accountant/internal/fault"
)

// Listening and ending. A server that others can reach refuses to start unless it knows who they are, and
// unless what they send cannot be read on the way. Which address it is, is looked up on the socket itself,
// before the first connection is taken.

// Listen opens the address. Where others can reach it, it is an error if nobody would have to say who
// they are, or if tokens would travel in plain text without the operator having said so.
func (s *Server) Listen() (net.Listener, error) {
	addr := s.config.Addr
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		addr = ":" + addr
	}
	if strings.HasPrefix(addr, ":") {
		addr = "127.0.0.1" + addr
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fault.New("http", "%w", err)
	}
	if tcp, ok := ln.Addr().(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		return ln, nil
	}
	switch {
	case s.access.open():
		err = fault.New("http", "%s can be reached from other machines, for which --clients or --client-ca is needed", addr)
	case s.tls == nil && !s.config.Plaintext:
		err = fault.New("http", "%s can be reached from other machines, and tokens would travel in plain text; give --tls-cert and --tls-key, or --plaintext if something in front of it ends TLS", addr)
	default:
		return ln, nil
	}
	ln.Close()
	return nil, err
}

// Serve answers requests until ctx ends; then it takes no more, lets those that are there end, and
// returns nil.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	h := &http.Server{
		Handler:           s.Handler(),
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       s.connections.add,
		ConnState:         s.connections.changed,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 14,
		TLSConfig:         s.tls,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() {
		if s.tls != nil {
			failed <- h.ServeTLS(ln, "", "")
			return
		}
		failed <- h.Serve(ln)
	}()
	s.log.Info("listening", "address", ln.Addr().String(), "tls", s.tls != nil, "clients", len(s.access.clients), "certificates", s.access.certificates, "version", s.config.Version)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.ending.Store(true)
	s.log.Info("ending", "requests", s.reads.now().inside+s.spends.now().inside)
	// A request ends by itself within its limits of time.
	limited, stop := context.WithTimeout(base, s.config.Body+s.config.Time+bodyTime)
	defer stop()
	if err := h.Shutdown(limited); err != nil {
		cut()
		h.Close()
		return fmt.Errorf("some requests did not end: %w", err)
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	s.log.Info("ended")
	return nil
}
