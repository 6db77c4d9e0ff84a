// Package authority is a certificate authority for tests: it makes the certificates
// of a Nomad cluster, of the placer's programs and of people, and makes them anew.
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// lifetime of a certificate: longer than any test.
const lifetime = 24 * time.Hour

// Authority signs certificates and keeps the files of all of them in one folder.
type Authority struct {
	dir  string
	name string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New makes an authority whose files are in dir; its own certificate is <name>.pem.
func New(dir, name string) (*Authority, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("authority %s: %w", name, err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("authority %s: %w", name, err)
	}
	template := template(name)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("authority %s: %w", name, err)
	}
	a := &Authority{dir: dir, name: name, key: key}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("authority %s: %w", name, err)
	}
	return a, write(a.File(), "CERTIFICATE", der)
}

// File has the authority's own certificate.
func (a *Authority) File() string { return filepath.Join(a.dir, a.name+".pem") }

// Pair are the files of a certificate and of its key.
type Pair struct{ Cert, Key string }

// Issue makes <name>.pem and <name>-key.pem for servers and for callers: good for
// this machine by name and address, and for more names such as server.global.nomad.
// Files that are there are replaced, as in a renewal: each by a whole one at once.
func (a *Authority) Issue(name string, names ...string) (Pair, error) {
	pair := Pair{filepath.Join(a.dir, name+".pem"), filepath.Join(a.dir, name+"-key.pem")}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair, fmt.Errorf("certificate %s: %w", name, err)
	}
	template := template(name)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.DNSNames = append([]string{"localhost"}, names...)
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return pair, fmt.Errorf("certificate %s: %w", name, err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair, fmt.Errorf("certificate %s: %w", name, err)
	}
	if err := write(pair.Key, "PRIVATE KEY", secret); err != nil {
		return pair, err
	}
	return pair, write(pair.Cert, "CERTIFICATE", der)
}

func template(name string) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 126))
	if err != nil {
		panic(err) // no randomness: nothing works
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lifetime),
	}
}

func write(path, kind string, der []byte) error {
	next := path + ".next"
	if err := os.WriteFile(next, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		return fmt.Errorf("certificate file: %w", err)
	}
	if err := os.Rename(next, path); err != nil {
		return fmt.Errorf("certificate file: %w", err)
	}
	return nil
}
