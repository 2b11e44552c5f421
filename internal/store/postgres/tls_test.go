package postgres_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store/pgtest"
	"herbarium/internal/store/postgres"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	file        string // with its own certificate
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{file: filepath.Join(t.TempDir(), "root.crt")}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	var der []byte
	a.certificate, a.key, der = sign(t, template, nil)
	must.NoError(t, os.WriteFile(a.file, der, 0o600))
	return a
}

// server returns the certificate and the key of a server on the loopback address, in PEM.
func (a *authority) server(t *testing.T) (certificate, key []byte) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "database"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	_, k, certificate := sign(t, template, a)
	der, err := x509.MarshalPKCS8PrivateKey(k)
	must.NoError(t, err)
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// sign creates a certificate with a new key, signed by an authority or self-signed.
func sign(t *testing.T, template *x509.Certificate, by *authority) (*x509.Certificate, *ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.NoError(t, err)
	parent, signer := template, key
	if by != nil {
		parent, signer = by.certificate, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	must.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	must.NoError(t, err)
	return certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// TestMigrate_rejected tries addresses with one error each. Migrate reports the cause; clients do
// not get it, and no message contains the password.
func TestMigrate_rejected(t *testing.T) {
	t.Parallel()
	right, wrong := newAuthority(t, "right"), newAuthority(t, "wrong")
	server := &pgtest.Cluster{TCP: true, HBA: "local all postgres trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n"}
	server.Certificate, server.Key = right.server(t)
	stopAfter(t, server)
	address := server.Database(t)
	server.Exec(t, "ALTER ROLE postgres PASSWORD 'correct-horse'", "CREATE ROLE guest LOGIN PASSWORD 'correct-horse'")
	u, err := url.Parse(address)
	must.NoError(t, err)
	for name, tt := range map[string]struct {
		change map[string]string
		code   herb.Code // empty if it works
		wants  []string
	}{
		"nothing wrong": {},
		"another authority": {map[string]string{"sslrootcert": wrong.file}, herb.CodeInvalid,
			[]string{"certificate", "authority", "sslrootcert"}},
		"another host": {map[string]string{"host": "localhost"}, herb.CodeInvalid,
			[]string{"certificate", "localhost"}},
		"authority alone": {
			map[string]string{"sslmode": "verify-ca", "sslrootcert": wrong.file}, herb.CodeInvalid,
			[]string{"certificate", "sslrootcert"},
		},
		"no TLS": {map[string]string{"sslmode": "disable"}, herb.CodeInvalid,
			[]string{"postgres", "no encryption"}},
		"wrong password": {map[string]string{"password": "wrong-horse"}, herb.CodeInvalid,
			[]string{`user "postgres"`, "check the user and the password"}},
		"no such user": {map[string]string{"user": "ann"}, herb.CodeInvalid, []string{`user "ann"`}},
		"no such database": {map[string]string{"dbname": "none"}, herb.CodeInvalid,
			[]string{`no database "none"`, "create it"}},
		"no right": {map[string]string{"user": "guest"}, herb.CodeInvalid,
			[]string{`"guest" may not`, "own the database"}},
		"no server": {map[string]string{"host": "/nowhere"}, herb.CodeUnavailable,
			[]string{"/nowhere", "check that it runs"}},
	} {
		t.Run(name, func(t *testing.T) {
			query := u.Query()
			query.Set("sslmode", "verify-full")
			query.Set("sslrootcert", right.file)
			query.Set("password", "correct-horse")
			for setting, value := range tt.change {
				query.Set(setting, value)
			}
			changed := *u
			changed.RawQuery = query.Encode()
			s := openLater(t, changed.String(), postgres.Options{RetryBudget: time.Millisecond})
			err := s.Migrate(t.Context())
			if tt.code == "" {
				must.NoError(t, err)
				wantTotal(t, s, 0)
				return
			}
			if err == nil || herb.CodeOf(err) != tt.code || strings.Contains(err.Error(), "-horse") {
				t.Errorf("got %v; want the code %q", err, tt.code)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than a line", err)
			}
			for _, want := range tt.wants {
				if !strings.Contains(herb.MessageOf(err), want) {
					t.Errorf("%q does not contain %q", herb.MessageOf(err), want)
				}
			}
			err = s.Ping(t.Context())
			if herb.CodeOf(err) != herb.CodeUnavailable || strings.Contains(herb.MessageOf(err), tt.wants[0]) ||
				strings.Contains(err.Error(), "-horse") {
				t.Errorf("a call: got %v", err)
			}
		})
	}
}
