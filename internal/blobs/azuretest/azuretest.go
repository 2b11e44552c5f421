//go:build unix

// Package azuretest runs an emulator of Azure Blob Storage for tests. It is imported by tests alone.
package azuretest

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"herbarium/internal/blobs/servertest"
)

// The credentials of every server. They are the same for all, so that tests that run at the same time can take them from one
// environment.
const (
	Account = "herbariumtest"
	Key     = "aGVyYmFyaXVtLXRlc3Qta2V5LWhlbGxlYm9yZQ==" // keys are base64
)

// Environ returns the environment that a process needs to use a server.
func Environ() []string { return []string{"AZURE_STORAGE_KEY=" + Key} }

// Server is an emulator of Azure Blob Storage.
type Server struct{ *servertest.Server }

// New starts a server. Where it has not been installed the test is skipped, or fails if HERBARIUM_TEST_REQUIRE asks for it.
func New(t testing.TB) *Server {
	t.Helper()
	return &Server{servertest.New(t, servertest.Program{
		Name:    "emulator of Azure Blob Storage",
		Part:    "azure",
		File:    "tools/azure/node_modules/azurite/dist/src/blob/main.js",
		Command: command,
		End:     syscall.SIGTERM, // it writes its list of objects every few seconds, and when it ends
	})}
}

func command(file, folder, address string) *exec.Cmd {
	host, port, _ := net.SplitHostPort(address)
	// The client is ahead of the emulator in the versions of the protocol, and sends a checksum that it does not know.
	server := exec.Command("node", file, "--blobHost", host, "--blobPort", port, "--location", folder, "--silent",
		"--disableTelemetry", "--skipApiVersionCheck", "--loose")
	server.Env = append(os.Environ(), "AZURITE_ACCOUNTS="+Account+":"+Key)
	return server
}

// URL creates a container, unless it exists, and returns the address of the object store in it.
func (s *Server) URL(t testing.TB, bucket string) string {
	t.Helper()
	if _, err := s.Client(t, bucket).Create(t.Context(), nil); err != nil &&
		!bloberror.HasCode(err, bloberror.ContainerAlreadyExists) {
		t.Fatal(err)
	}
	return s.Through(bucket, s.Endpoint())
}

// Through returns the address of the object store in a container, behind an endpoint such as that of a proxy.
func (s *Server) Through(bucket, endpoint string) string {
	return "azblob://" + bucket + "?" + url.Values{
		"domain": {strings.TrimPrefix(endpoint, "http://")}, "protocol": {"http"}, "storage_account": {Account},
	}.Encode()
}

// Client returns a client of a container of the server.
func (s *Server) Client(t testing.TB, bucket string) *container.Client {
	t.Helper()
	credential, err := container.NewSharedKeyCredential(Account, Key)
	if err != nil {
		t.Fatal(err)
	}
	client, err := container.NewClientWithSharedKeyCredential(s.Endpoint()+"/"+Account+"/"+bucket, credential, nil)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
