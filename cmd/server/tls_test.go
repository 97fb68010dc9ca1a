package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An issuer signs certificates.
type issuer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

// issue writes a certificate and its key as PEM files; without by it signs itself.
func issue(t *testing.T, name string, by *issuer) (i *issuer, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}, IsCA: by == nil, BasicConstraintsValid: true}
	parent, signer := c, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &issuer{cert, key, certFile}, certFile, keyFile
}

// TestCertificates: with an authority for clients nobody gets in without a certificate of it; whose
// certificate is in the file of clients has the scopes of the file, and without a file reads and spends.
func TestCertificates(t *testing.T) {
	ca, caFile, _ := issue(t, "authority", nil)
	stranger, _, _ := issue(t, "stranger", nil)
	_, serverCert, serverKey := issue(t, "server", ca)
	clients := filepath.Join(t.TempDir(), "clients.json")
	if err := os.WriteFile(clients, []byte(`{"clients":[{"name":"reader","certificate":"reader.example","scopes":["read"]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	for _, file := range []string{"", clients} {
		_, addr, end, served := serve(t, Config{Addr: "0.0.0.0:0", Cert: serverCert, Key: serverKey, ClientCA: caFile, Clients: file})
		url := fmt.Sprintf("https://127.0.0.1:%d/v1/", addr.Port)
		ask := func(name string, by *issuer, op string) int {
			config := &tls.Config{RootCAs: pool}
			if by != nil {
				_, cert, key := issue(t, name, by)
				pair, err := tls.LoadX509KeyPair(cert, key)
				if err != nil {
					t.Fatal(err)
				}
				config.Certificates = []tls.Certificate{pair}
			}
			transport := &http.Transport{TLSClientConfig: config}
			defer transport.CloseIdleConnections()
			resp, err := (&http.Client{Transport: transport}).Post(url+op, "application/json", strings.NewReader(`{}`))
			if err != nil {
				return 0
			}
			resp.Body.Close()
			return resp.StatusCode
		}
		for _, c := range []struct {
			name                 string
			by                   *issuer
			op                   string
			without, withClients int
		}{
			{"", nil, "version", 0, 0},
			{"reader.example", stranger, "version", 0, 0},
			{"reader.example", ca, "version", 200, 200},
			{"reader.example", ca, "ledger-spend", 400, 403}, // 400: it may, and no ledger is named
			{"reader.example", ca, "ledger-create", 403, 403},
			{"other.example", ca, "version", 200, 401},
		} {
			want := c.without
			if file != "" {
				want = c.withClients
			}
			if got := ask(c.name, c.by, c.op); got != want {
				t.Errorf("clients %q: %s asks %s: %d, want %d", file, c.name, c.op, got, want)
			}
		}
		end()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}
