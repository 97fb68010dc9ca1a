package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/server"
)

// registerHTTP defines the flags of serve --http.
func registerHTTP(cmd *cobra.Command, c *server.Config) {
	c.Register(cmd.Flags())
	cmd.Flags().StringVar(&c.Ledgers, "ledgers", "", "`folder` of the ledgers that requests may name; no other file is read or written")
	for _, name := range []string{"ledgers", "clients", "tls-cert", "tls-key", "client-ca"} {
		_ = cmd.MarkFlagFilename(name)
	}
}

// httpFlags are the flags that mean something beside --http alone.
var httpFlags = []string{"ledgers", "clients", "tls-cert", "tls-key", "client-ca", "plaintext", "max-body", "time-limit", "running", "waiting", "per-client", "connections", "max-memory", "max-work"}

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
