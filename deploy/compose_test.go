package deploy_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// composeFile is a Compose file. Members that it does not have are rejected.
type composeFile struct {
	Services map[string]composeService
	Volumes  map[string]any
	Node     any `yaml:"x-node"`
}

type composeService struct {
	Image       string
	Build       struct{ Context, Dockerfile string }
	Command     []string
	Environment map[string]string
	Ports       []string
	Volumes     []string
	Tmpfs       []string
	ReadOnly    bool          `yaml:"read_only"`
	CapDrop     []string      `yaml:"cap_drop"`
	SecurityOpt []string      `yaml:"security_opt"`
	StopGrace   time.Duration `yaml:"stop_grace_period"`
	DependsOn   any           `yaml:"depends_on"`
	Restart     string
	Profiles    []string
	Healthcheck struct {
		Test     []string
		Interval time.Duration
		Retries  int
	}
}

func readCompose(t *testing.T, name string) composeFile {
	t.Helper()
	var c composeFile
	d := yaml.NewDecoder(strings.NewReader(read(t, filepath.Join("..", name))))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return c
}

// withPasswords replaces the variables that the user sets.
func withPasswords(env map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range env {
		out[name] = regexp.MustCompile(`\$\{[A-Z0-9_]+:\?[^}]+\}`).ReplaceAllString(value, "password")
	}
	return out
}

func TestCompose(t *testing.T) {
	t.Parallel()
	image := assignments(read(t, "container/Containerfile"))
	for name, nodes := range map[string][]string{"compose.yaml": {"herbarium"},
		"compose.cluster.yaml": {"node1", "node2"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := readCompose(t, name)
			for service, s := range file.Services {
				checkVolumes(t, service, s, file)
				if s.Build.Dockerfile == "" && !regexp.MustCompile(`^[a-z/]+:v?\d`).MatchString(s.Image) {
					t.Errorf("%s: the image %s has no version", service, s.Image)
				}
			}
			for _, node := range nodes {
				s := file.Services[node]
				if _, err := os.Stat(filepath.Join("..", s.Build.Context, s.Build.Dockerfile)); err != nil {
					t.Error(err)
				}
				env := withPasswords(s.Environment)
				c := load(t, env)
				if !slices.Contains(volumeTargets(s), image["HERBARIUM_DATA"]) || env["HERBARIUM_DATA"] != "" {
					t.Errorf("%s: the data folder of the image, %s, is no volume", node, image["HERBARIUM_DATA"])
				}
				if s.StopGrace < c.Drain+c.Shutdown+5*time.Second {
					t.Errorf("%s: it is killed after %s; a stop may take %s and %s", node, s.StopGrace,
						c.Drain, c.Shutdown)
				}
				if !s.ReadOnly || !slices.Equal(s.Tmpfs, []string{"/tmp"}) ||
					!slices.Equal(s.CapDrop, []string{"ALL"}) {
					t.Errorf("%s: not confined: %+v", node, s)
				}
				if !slices.Equal(s.Command, []string{"serve"}) {
					t.Errorf("%s: the command is %q", node, s.Command)
				}
			}
		})
	}
	one := readCompose(t, "compose.yaml").Services["herbarium"]
	if want := "127.0.0.1:8080:" + portOf(t, one.Environment["HERBARIUM_ADDR"]); !slices.Equal(one.Ports,
		[]string{want}) {
		t.Errorf("the ports are %q, want %q", one.Ports, want)
	}
}

func volumeTargets(s composeService) (targets []string) {
	for _, v := range s.Volumes {
		targets = append(targets, strings.Split(v, ":")[1])
	}
	return targets
}

// checkVolumes checks that volumes are declared and that mounted files exist.
func checkVolumes(t *testing.T, service string, s composeService, file composeFile) {
	t.Helper()
	for _, v := range s.Volumes {
		source, _, _ := strings.Cut(v, ":")
		if strings.HasPrefix(source, "./") {
			if _, err := os.Stat(filepath.Join("..", source)); err != nil {
				t.Errorf("%s: %v", service, err)
			}
		} else if _, ok := file.Volumes[source]; !ok {
			t.Errorf("%s: the volume %s is not declared", service, source)
		}
	}
}

// TestCompose_cluster checks that the services reach each other.
func TestCompose_cluster(t *testing.T) {
	t.Parallel()
	services := readCompose(t, "compose.cluster.yaml").Services
	node, proxy, database, objects := services["node1"], services["haproxy"], services["postgres"], services["s3"]
	c := load(t, withPasswords(node.Environment))
	upgrade := services["upgrade"]
	if !maps.Equal(upgrade.Environment, node.Environment) || upgrade.Image != node.Image ||
		!slices.Equal(volumeTargets(upgrade), volumeTargets(node)) {
		t.Errorf("the upgrade is that of another cluster: %+v", upgrade)
	}
	if !slices.Equal(upgrade.Command, []string{"upgrade"}) || len(upgrade.Profiles) != 1 || upgrade.Restart != "no" {
		t.Errorf("the upgrade does not run once, on request: %+v", upgrade)
	}
	if want := "postgres://" + database.Environment["POSTGRES_USER"] + "@postgres/" +
		database.Environment["POSTGRES_DB"] + "?"; !strings.HasPrefix(string(c.Database), want) {
		t.Errorf("the database is %s, want %s", c.Database, want)
	}
	if node.Environment["PGPASSWORD"] != database.Environment["POSTGRES_PASSWORD"] {
		t.Error("the passwords of the database differ")
	}
	port, bucket := objects.Command[slices.Index(objects.Command, "--port")+1], objects.Command[len(objects.Command)-1]+
		"/herbarium"
	if want := "s3://herbarium?endpoint=http://s3" + port + "&"; !strings.HasPrefix(string(c.Blobs), want) ||
		!slices.Contains(volumeTargets(objects), bucket) {
		t.Errorf("the object store is %s, want %s; volumes %q", c.Blobs, want, objects.Volumes)
	}
	if node.Environment["AWS_ACCESS_KEY_ID"] != objects.Environment["ROOT_ACCESS_KEY"] ||
		node.Environment["AWS_SECRET_ACCESS_KEY"] != objects.Environment["ROOT_SECRET_KEY"] {
		t.Error("the credentials of the object store differ")
	}
	wantProxy := map[string]string{"BIND": ":8080", "NODE1": "node1:" + portOf(t, c.Addr), "NODE2": "node2:" +
		portOf(t, c.Addr)}
	if !maps.Equal(proxy.Environment, wantProxy) || !slices.Equal(proxy.Ports, []string{"127.0.0.1:8080:8080"}) {
		t.Errorf("the proxy has %v and ports %q, want %v", proxy.Environment, proxy.Ports, wantProxy)
	}
	found := haproxyTime(t, "inter") * time.Duration(haproxyNumber(t, "fall"))
	if c.Drain < 2*found {
		t.Errorf("a node drains for %s; the proxy notices that it is not ready after %s", c.Drain, found)
	}
}
