package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/service"
)

// Listening and ending. A server that others can reach refuses to start unless it knows who they are, and
// unless what they send cannot be read on the way. Which address it is, is looked up on the socket itself,
// before the first connection is taken.

// A Config is what the operator decides; New fills in what is 0.
type Config struct {
	Addr    string // PORT or HOST:PORT; without a host the loopback interface
	Ledgers string // the folder of ledgers; "" has none
	Clients string // the file of clients
	// Cert, Key and ClientCA are files in PEM; ClientCA has every client show a certificate.
	Cert, Key, ClientCA string
	// Plaintext says that something in front of the server ends TLS.
	Plaintext bool

	MaxBody int64         // bytes of a request; 4 MiB
	Time    time.Duration // of a request; a minute
	Body    time.Duration // of a request's body to arrive; half a minute
	Running int           // requests at work; twice the cores, and at least four
	Waiting int           // further requests that wait; 256
	Each    int           // requests of one client that are not answered; 64

	Version string
	Log     io.Writer // one line of JSON for each request
}

// A Server answers requests. New makes one.
type Server struct {
	config      Config
	operations  []service.Operation
	service     *service.Service
	folder      *folder
	access      access
	limit       *limiter
	meter       *meter
	log         *slog.Logger
	description []byte
	tls         *tls.Config
	ending      atomic.Bool
}

// New checks the configuration and reads its files.
func New(c Config) (*Server, error) {
	c.preset()
	for _, p := range []struct {
		name string
		ok   bool
	}{{"max-body", c.MaxBody > 0 && c.MaxBody <= service.MaxRequest}, {"time-limit", c.Time > 0}, {"running", c.Running > 0}, {"waiting", c.Waiting >= 0}, {"per-client", c.Each > 0}} {
		if !p.ok {
			return nil, fault.New(p.name, "is not a positive number, or above its limit")
		}
	}
	s := &Server{config: c, operations: offered(), limit: newLimiter(c.Running, c.Running+c.Waiting, c.Each), meter: newMeter(), log: slog.New(slog.NewJSONHandler(c.Log, nil))}
	var err error
	if s.description, err = OpenAPI(c.Version); err != nil {
		return nil, err
	}
	var files service.Files
	if c.Ledgers != "" {
		if s.folder, err = openFolder(c.Ledgers, s.log); err != nil {
			return nil, err
		}
		files = s.folder
	}
	s.service = service.NewShared(files)
	if c.Clients != "" {
		if s.access.clients, err = readClients(c.Clients); err != nil {
			return nil, err
		}
	}
	return s, s.readTLS()
}

// preset fills in what was not given.
func (c *Config) preset() {
	if c.MaxBody == 0 {
		c.MaxBody = service.MaxRequest
	}
	if c.Time == 0 {
		c.Time = time.Minute
	}
	if c.Body == 0 {
		c.Body = bodyTime
	}
	if c.Running == 0 {
		c.Running = max(4, 2*runtime.GOMAXPROCS(0))
	}
	if c.Waiting == 0 {
		c.Waiting = 256
	}
	if c.Each == 0 {
		c.Each = 64
	}
	if c.Log == nil {
		c.Log = io.Discard
	}
}

// readTLS reads the certificates.
func (s *Server) readTLS() error {
	c := s.config
	switch {
	case c.Cert == "" && c.Key == "" && c.ClientCA == "":
		return nil
	case c.Cert == "" || c.Key == "":
		return fault.New("tls-cert", "and --tls-key must be given together, and with --client-ca")
	}
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return fault.New("tls-cert", "%w", err)
	}
	s.tls = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if c.ClientCA == "" {
		return nil
	}
	pem, err := os.ReadFile(c.ClientCA)
	if err != nil {
		return fault.New("client-ca", "%w", err)
	}
	s.tls.ClientCAs = x509.NewCertPool()
	if !s.tls.ClientCAs.AppendCertsFromPEM(pem) {
		return fault.New("client-ca", "%s has no certificate in PEM", c.ClientCA)
	}
	s.tls.ClientAuth = tls.RequireAndVerifyClientCert
	s.access.certificates = true
	return nil
}

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
	inside, _ := s.limit.now()
	s.log.Info("ending", "requests", inside)
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
