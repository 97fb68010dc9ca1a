package server

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
)

// What the operator decides, checked before anything listens.

// bodyTime is how long a request's body may take to arrive, and its answer to leave.
const bodyTime = 30 * time.Second

// maxRequests bounds how many requests may be there at once: room for each at work is set aside at the start.
const maxRequests = 1 << 20

// A Config is what the operator decides; New fills in what is 0.
type Config struct {
	Addr    string // PORT or HOST:PORT; without a host the loopback interface
	Ledgers string // the folder of ledgers; "" has none
	// Elsewhere has the ledgers in place of a folder.
	Elsewhere Ledgers
	Open      int    // ledgers in memory with their entries; 1000
	Clients   string // the file of clients
	// Cert, Key and ClientCA are files in PEM; ClientCA has every client show a certificate.
	Cert, Key, ClientCA string
	// Plaintext says that something in front of the server ends TLS.
	Plaintext bool

	MaxBody int64         // bytes of a request; 4 MiB
	Time    time.Duration // of a request; a minute
	Body    time.Duration // of a request's body to arrive; half a minute
	// Running is how many questions may be at work, and how many spends beside them; twice the cores, and at least four.
	// One client has half of them. Waiting more of each kind wait, 256; Each are of one client, 64.
	Running, Waiting, Each int
	// Connections is how many may be open from one address, or of one user of this machine; 256, or no limit with Plaintext,
	// where all come from what ends TLS.
	Connections int
	// Memory in MB and Work in terms are the most that a question may be given, and what it has if it does not say; 256 and
	// 2.5e9.
	Memory, Work float64

	Version string
	Log     io.Writer // one line of JSON for each request
}

// Register defines the flags for all but where the ledgers are.
func (c *Config) Register(fs *pflag.FlagSet) {
	fs.StringVar(&c.Addr, "http", "", "answer HTTP at this `address`, PORT or HOST:PORT; without a host for programs of this machine only")
	fs.StringVar(&c.Clients, "clients", "", "`file` of who may ask, with hashes of their tokens")
	fs.StringVar(&c.Cert, "tls-cert", "", "certificate of the server, a PEM `file`")
	fs.StringVar(&c.Key, "tls-key", "", "key of that certificate, a PEM `file`")
	fs.StringVar(&c.ClientCA, "client-ca", "", "have clients show a certificate signed by one of this PEM `file`")
	fs.BoolVar(&c.Plaintext, "plaintext", false, "something in front of the server ends TLS")
	fs.Int64Var(&c.MaxBody, "max-body", service.MaxRequest, "longest request in `bytes`")
	fs.DurationVar(&c.Time, "time-limit", time.Minute, "`time` that a request may take")
	fs.IntVar(&c.Running, "running", 0, "`number` of questions at work at once, and of spends (default two a core)")
	fs.IntVar(&c.Waiting, "waiting", 256, "`number` of further questions that may wait, and of spends")
	fs.IntVar(&c.Each, "per-client", 64, "`number` of questions of one client that may be open, and of spends")
	fs.IntVar(&c.Connections, "connections", 0, "`number` of connections of one address, or local user, that may be open (default 256; with --plaintext no limit)")
	fs.Float64Var(&c.Memory, "max-memory", 256, "most memory in `MB` that a question may ask for")
	fs.Float64Var(&c.Work, "max-work", 2.5e9, "most work that a question may ask for, in `terms` of about 40 ns")
}

// A Server answers requests. New makes one.
type Server struct {
	config      Config
	operations  []service.Operation
	service     *service.Service
	ledgers     *files // nil has none
	access      access
	reads       *lane
	spends      *lane
	connections *connections
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
		name                string
		value, least, limit float64
	}{
		{"max-body", float64(c.MaxBody), 1, service.MaxRequest}, {"running", float64(c.Running), 1, maxRequests}, {"waiting", float64(c.Waiting), 1, maxRequests},
		{"per-client", float64(c.Each), 1, maxRequests}, {"connections", float64(c.Connections), 1, maxRequests},
		{"max-memory", c.Memory, 32, service.MaxMemory}, {"max-work", c.Work, 1, service.MaxWork},
	} {
		if !(p.value >= p.least && p.value <= p.limit) {
			return nil, fault.New(p.name, "%s is not in [%s, %s]", decimal.Short(p.value), decimal.Short(p.least), decimal.Short(p.limit))
		}
	}
	if c.Time < 0 {
		return nil, fault.New("time-limit", "%v is not above 0s", c.Time)
	}
	s := &Server{config: c, operations: offered(), meter: newMeter(), log: slog.New(slog.NewJSONHandler(c.Log, nil)),
		reads:       newLane("read", c.Running, c.Running+c.Waiting, c.Each),
		spends:      newLane("spend", c.Running, c.Running+c.Waiting, c.Each),
		connections: newConnections(c.Connections),
	}
	var err error
	if s.description, err = OpenAPI(c.Version); err != nil {
		return nil, err
	}
	if c.Elsewhere == nil && c.Ledgers != "" {
		if c.Elsewhere, err = openFolder(c.Ledgers); err != nil {
			return nil, err
		}
	}
	var known service.Files
	if c.Elsewhere != nil {
		s.ledgers = &files{Ledgers: c.Elsewhere, log: s.log, handles: handles{limit: c.Open}}
		known = s.ledgers
	}
	s.service = service.NewShared(known)
	if c.Clients != "" {
		if s.access.clients, err = readClients(c.Clients); err != nil {
			return nil, err
		}
	}
	return s, s.readTLS()
}

// preset fills in what was not given.
func (c *Config) preset() {
	c.MaxBody = cmp.Or(c.MaxBody, service.MaxRequest)
	c.Time = cmp.Or(c.Time, time.Minute)
	c.Body = cmp.Or(c.Body, bodyTime)
	c.Running = cmp.Or(c.Running, max(4, 2*runtime.GOMAXPROCS(0)))
	c.Waiting = cmp.Or(c.Waiting, 256)
	c.Each = cmp.Or(c.Each, 64)
	if c.Plaintext {
		c.Connections = cmp.Or(c.Connections, maxRequests)
	}
	c.Connections = cmp.Or(c.Connections, 256)
	c.Memory = cmp.Or(c.Memory, 256)
	c.Work = cmp.Or(c.Work, 2.5e9)
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
