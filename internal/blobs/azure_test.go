//go:build unix

package blobs_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	"herbarium/internal/blobs"
	"herbarium/internal/blobs/azuretest"
	"herbarium/internal/herb"
)

// TestAzure_credentials opens a store with each kind of credentials that is not an identity of Microsoft's. They come from
// the environment, so it does not run beside others.
func TestAzure_credentials(t *testing.T) {
	server := azuretest.New(t)
	address := server.URL(t, "bucket")
	permissions := sas.ContainerPermissions{Read: true, Write: true, List: true, Delete: true, Create: true}
	signed, err := server.Client(t, "bucket").GetSASURL(permissions, time.Now().Add(time.Hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(signed, "?")
	_, signature, _ := strings.Cut(token, "sig=")
	connection := "DefaultEndpointsProtocol=http;AccountName=" + azuretest.Account + ";AccountKey=" + azuretest.Key +
		";BlobEndpoint=" + server.Endpoint() + "/" + azuretest.Account + ";"
	const wrong = "bm90LXRoZS1zZWNyZXQ="
	for _, c := range []struct {
		name, address, account, key, sas, connection string
		want                                         string // "": it is right
	}{
		{name: "key", address: address, key: azuretest.Key},
		{name: "key of the address's account", address: address, account: "another", key: azuretest.Key},
		{name: "account of the environment", address: strings.Replace(address, "storage_account="+azuretest.Account, "", 1),
			account: azuretest.Account, key: azuretest.Key},
		{name: "signature", address: address, sas: token},
		{name: "connection string", address: "azblob://bucket", connection: connection},
		{name: "wrong key", address: address, key: wrong, want: "AuthorizationFailure"},
		{name: "wrong signature", address: address, sas: strings.Replace(token, "sig=", "sig=0", 1), want: "AuthorizationFailure"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("AZURE_STORAGE_ACCOUNT", c.account)
			t.Setenv("AZURE_STORAGE_KEY", c.key)
			t.Setenv("AZURE_STORAGE_SAS_TOKEN", c.sas)
			t.Setenv("AZURE_STORAGE_CONNECTION_STRING", c.connection)
			b := open(t, c.address, blobs.Options{})
			for what, call := range map[string]func() error{
				"list what is in": func() error { return b.Ping(t.Context()) },
				"store a.segment in": func() error {
					return b.Put(t.Context(), "a.segment", file(t, []byte("a")), nil)
				},
				"delete a.segment in": func() error { return b.Delete(t.Context(), "a.segment") },
				"read b.segment in":   func() error { return b.Get(t.Context(), "b.segment", io.Discard) },
			} {
				err := call()
				if c.want == "" {
					if err != nil && (what != "read b.segment in" || herb.CodeOf(err) != herb.CodeNotFound) {
						t.Errorf("to %s: %v", what, err)
					}
					continue
				}
				wantCode(t, err, herb.CodeUnavailable)
				want := "refuses to " + what + " azblob://bucket (" + c.want + "); check the credentials"
				if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), wrong) ||
					strings.Contains(err.Error(), signature) {
					t.Errorf("the error is %q, want %q in it, and no secret", err, want)
				}
			}
		})
	}
}
