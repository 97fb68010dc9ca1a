package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/internal/server"
	"github.com/dpaccountant/accountant/service"
)

// registerHTTP defines the flags of serve --http.
func registerHTTP(cmd *cobra.Command, c *server.Config) {
	fs := cmd.Flags()
	fs.StringVar(&c.Addr, "http", "", "answer HTTP at this `address`, PORT or HOST:PORT; without a host for programs of this machine only")
	fs.StringVar(&c.Ledgers, "ledgers", "", "`folder` of the ledgers that requests may name; no other file is read or written")
	fs.StringVar(&c.Clients, "clients", "", "`file` of who may ask, with hashes of their tokens")
	fs.StringVar(&c.Cert, "tls-cert", "", "certificate of the server, a PEM `file`")
	fs.StringVar(&c.Key, "tls-key", "", "key of that certificate, a PEM `file`")
	fs.StringVar(&c.ClientCA, "client-ca", "", "have clients show a certificate signed by one of this PEM `file`")
	fs.BoolVar(&c.Plaintext, "plaintext", false, "something in front of the server ends TLS")
	fs.Int64Var(&c.MaxBody, "max-body", service.MaxRequest, "longest request in `bytes`")
	fs.DurationVar(&c.Time, "time-limit", time.Minute, "`time` that a request may take")
	fs.IntVar(&c.Running, "running", 0, "`number` of requests at work at once (default two a core)")
	fs.IntVar(&c.Waiting, "waiting", 256, "`number` of further requests that may wait")
	fs.IntVar(&c.Each, "per-client", 64, "`number` of requests of one client that may be open")
	for _, name := range []string{"ledgers", "clients", "tls-cert", "tls-key", "client-ca"} {
		_ = cmd.MarkFlagFilename(name)
	}
}

// httpFlags are the flags that mean something beside --http alone.
var httpFlags = []string{"ledgers", "clients", "tls-cert", "tls-key", "client-ca", "plaintext", "max-body", "time-limit", "running", "waiting", "per-client"}

// serveHTTP answers requests until a signal, and then those that are there.
func serveHTTP(cmd *cobra.Command, c server.Config) error {
	c.Version = cmd.Root().Version
	c.Log = cmd.ErrOrStderr()
	s, err := server.New(c)
	if err != nil {
		return flagged(cmd, err)
	}
	// The first signal ends the server when its requests have ended; a second one at once.
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	ctx, stop := signal.NotifyContext(context.WithoutCancel(cmd.Context()), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	ln, err := s.Listen()
	if err != nil {
		return flagged(cmd, err)
	}
	return s.Serve(ctx, ln)
}
