package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/strictjson"
)

// Who asks: by a bearer token, of which the file of clients has the SHA-256, or by a certificate. A hash
// without salt is enough for what has 128 random bits, which is why short tokens are refused.

// minToken is the shortest token in bytes: 32 hexadecimal digits have 128 bits.
const minToken = 32

// A client is who may ask, and for what.
type client struct {
	Name string `json:"name"`
	// TokenSHA256 is the hash of the client's token in hexadecimal digits; Certificate is the common
	// name of its certificate. A client has one of the two.
	TokenSHA256 string          `json:"token-sha256,omitempty"`
	Certificate string          `json:"certificate,omitempty"`
	Scopes      []service.Scope `json:"scopes"`
	// Ledgers are patterns of path.Match; without any the client may name every ledger.
	Ledgers []string `json:"ledgers,omitempty"`

	sum []byte
}

// allScopes are those that a client can have.
var allScopes = []service.Scope{service.ScopeRead, service.ScopeSpend, service.ScopeCreate}

// readClients reads the file of clients.
func readClients(name string) ([]*client, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fault.New("clients", "%w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return nil, fault.New("clients", "%s can be written by others than its owner (mode %v); chmod go-w %[1]s", name, info.Mode().Perm())
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fault.New("clients", "%w", err)
	}
	var file struct {
		Clients []*client `json:"clients"`
	}
	if err := strictjson.Decode(text, &file); err != nil {
		return nil, fault.New("clients", "%s: %w", name, err)
	}
	if len(file.Clients) == 0 {
		return nil, fault.New("clients", "%s names no client", name)
	}
	seen := map[string]bool{}
	for i, c := range file.Clients {
		if c == nil {
			return nil, fault.New(fmt.Sprintf("clients[%d]", i), "is missing")
		}
		if err := c.check(); err != nil {
			return nil, fault.In(fmt.Sprintf("clients[%d]", i), err)
		}
		for _, id := range []string{"name " + c.Name, "token " + c.TokenSHA256, "certificate " + c.Certificate} {
			if seen[id] && !strings.HasSuffix(id, " ") {
				return nil, fault.New(fmt.Sprintf("clients[%d]", i), "has a name, a token or a certificate of another one")
			}
			seen[id] = true
		}
	}
	return file.Clients, nil
}

// check completes a client of the file.
func (c *client) check() (err error) {
	if c.Name == "" || strings.ContainsFunc(c.Name, func(r rune) bool { return r <= ' ' || r > '~' }) || len(c.Name) > 100 {
		return fault.New("name", "%.40q is not 1 to 100 letters, digits and signs without blanks", c.Name)
	}
	if (c.TokenSHA256 == "") == (c.Certificate == "") {
		return fault.New("token-sha256", "or certificate must be given, and not both")
	}
	if c.TokenSHA256 != "" {
		if c.sum, err = hex.DecodeString(c.TokenSHA256); err != nil || len(c.sum) != sha256.Size {
			return fault.New("token-sha256", "is not 64 hexadecimal digits") // its text may be a token
		}
		c.TokenSHA256 = strings.ToLower(c.TokenSHA256)
	}
	if len(c.Scopes) == 0 {
		return fault.New("scopes", "is missing; must be a list of read, spend, create")
	}
	for _, s := range c.Scopes {
		if !slices.Contains(allScopes, s) {
			return fault.New("scopes", "%q is not read, spend or create", s)
		}
	}
	if c.Ledgers != nil && len(c.Ledgers) == 0 {
		return fault.New("ledgers", "is an empty list; leave it out for a client that may name every ledger")
	}
	for _, p := range c.Ledgers {
		if _, err := path.Match(p, ""); err != nil {
			return fault.New("ledgers", "%q is not a pattern such as team-a/*.ledger", p)
		}
	}
	return nil
}

// may reports whether the client may do what needs a scope.
func (c *client) may(s service.Scope) bool { return slices.Contains(c.Scopes, s) }

// reaches reports whether the client may name a ledger.
func (c *client) reaches(ledger string) bool {
	return len(c.Ledgers) == 0 || slices.ContainsFunc(c.Ledgers, func(p string) bool {
		ok, _ := path.Match(p, ledger)
		return ok
	})
}

// access knows who may ask.
type access struct {
	clients      []*client
	certificates bool // a certificate that the authority has signed is asked for
}

// open reports that nobody has to say who they are, which is for the loopback interface alone.
func (a *access) open() bool { return len(a.clients) == 0 && !a.certificates }

// localClient is who asks where everybody may: a user of this machine, or all of them where it is not known which.
func localClient(ctx context.Context) *client {
	name, ok := ctx.Value(peerKey{}).(string)
	if !ok || !strings.HasPrefix(name, localName) {
		name = localName
	}
	return &client{Name: name, Scopes: allScopes}
}

// identify returns who asks, or why nobody is known.
func (a *access) identify(r *http.Request) (*client, *problem) {
	if a.open() {
		// A page in a browser may reach this machine by a name of its own for 127.0.0.1.
		if !loopbackName(r.Host) {
			return nil, refuse(http.StatusMisdirectedRequest, kindAccess, "", "this server is reached as localhost or by its loopback address alone")
		}
		return localClient(r.Context()), nil
	}
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if c := a.byToken(strings.TrimSpace(token)); c != nil && strings.EqualFold(scheme, "Bearer") {
			return c, nil
		}
	} else if r.TLS != nil && a.certificates && len(r.TLS.VerifiedChains) > 0 {
		if c := a.byCertificate(r.TLS.PeerCertificates[0]); c != nil {
			return c, nil
		}
	}
	return nil, refuse(http.StatusUnauthorized, kindAccess, "", "no client has this token or certificate")
}

// byToken returns the client of a token. It takes the same time whichever it is, and whether there is one.
func (a *access) byToken(token string) (found *client) {
	sum := sha256.Sum256([]byte(token))
	for _, c := range a.clients {
		if subtle.ConstantTimeCompare(sum[:], c.sum) == 1 {
			found = c
		}
	}
	if len(token) < minToken {
		return nil
	}
	return found
}

// byCertificate returns the client of a certificate whose chain was verified. Without a file of clients
// whoever has one may read and spend.
func (a *access) byCertificate(cert *x509.Certificate) *client {
	name := cert.Subject.CommonName
	if len(a.clients) == 0 {
		return &client{Name: "certificate " + name, Scopes: []service.Scope{service.ScopeRead, service.ScopeSpend}}
	}
	for _, c := range a.clients {
		if c.Certificate != "" && c.Certificate == name {
			return c
		}
	}
	return nil
}

// loopbackName reports whether a Host header names this machine's loopback interface.
func loopbackName(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// A visit is what a request's context knows of it.
type visit struct {
	who    *client
	denied bool // a ledger was named that is not the client's
}

type visitKey struct{}

func visitOf(ctx context.Context) *visit {
	v, _ := ctx.Value(visitKey{}).(*visit)
	return v
}
