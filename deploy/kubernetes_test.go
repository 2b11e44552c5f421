package deploy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/programtest"
)

// manifest has the members of an object that tests compare. The tool that prints it has validated
// the others.
type manifest struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		Selector       any
		PodSelector    any
		Template       template
		Ports          []struct{ TargetPort string }
		ScaleTargetRef struct{ Kind, Name string }
		MinReplicas    int
		Ingress        []struct{ Ports []struct{ Port string } }
		Rules          []struct{ HTTP struct{ Paths []path } }
	}
	StringData map[string]string
}

type path struct {
	Backend struct {
		Service struct {
			Name string
			Port struct{ Name string }
		}
	}
}

type template struct {
	Metadata struct{ Labels any }
	Spec     struct {
		Containers                    []podContainer
		TerminationGracePeriodSeconds int
		SecurityContext               struct{ RunAsUser int }
		Volumes                       []struct {
			Name     string
			EmptyDir struct{ SizeLimit string }
		}
	}
}

type podContainer struct {
	Args  []string
	Ports []struct {
		Name          string
		ContainerPort int
	}
	Env                                         []struct{ Name, Value string }
	EnvFrom                                     []struct{ SecretRef struct{ Name string } }
	StartupProbe, ReadinessProbe, LivenessProbe probe
	VolumeMounts                                []struct{ Name, MountPath string }
	SecurityContext                             struct{ ReadOnlyRootFilesystem bool }
}

type probe struct {
	HTTPGet                         struct{ Path, Port string }
	PeriodSeconds, FailureThreshold int
}

// manifests returns the objects that would be applied, by kind, as a tool reads them with kustomize
// and the types of Kubernetes.
func manifests(t *testing.T) map[string]manifest {
	t.Helper()
	const tool = "../tools/kubernetes/manifests"
	if _, err := os.Stat(tool); err != nil {
		programtest.SkipWithout(t, "kustomize", "kustomize is not built; run `make tools/kubernetes/manifests`")
	}
	cmd := exec.CommandContext(t.Context(), tool, "kubernetes", "kubernetes/secret.yaml", "kubernetes/ingress.yaml",
		"kubernetes/upgrade.yaml")
	var faults bytes.Buffer
	cmd.Stderr = &faults
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &faults)
	}
	all := map[string]manifest{}
	for d := json.NewDecoder(bytes.NewReader(printed)); ; {
		var m manifest
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[m.Kind] = m
	}
}

func TestInterop_kubernetes(t *testing.T) {
	t.Parallel()
	all := manifests(t)
	for _, kind := range []string{
		"Deployment", "Service", "PodDisruptionBudget", "HorizontalPodAutoscaler", "NetworkPolicy", "Secret", "Ingress",
	} {
		if m := all[kind]; m.Metadata.Name != "herbarium" || m.Metadata.Namespace != all["Namespace"].Metadata.Name {
			t.Errorf("there is no %s herbarium in the namespace: %+v", kind, m.Metadata)
		}
	}
	pods := all["Deployment"].Spec.Template
	node := pods.Spec.Containers[0]
	t.Run("selectors", func(t *testing.T) {
		want := map[string]any{"matchLabels": pods.Metadata.Labels}
		for name, got := range map[string]any{
			"Deployment":          all["Deployment"].Spec.Selector,
			"PodDisruptionBudget": all["PodDisruptionBudget"].Spec.Selector,
			"NetworkPolicy":       all["NetworkPolicy"].Spec.PodSelector,
			"Service":             map[string]any{"matchLabels": all["Service"].Spec.Selector},
		} {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s selects other pods (-want +got):\n%s", name, diff)
			}
		}
		to := all["HorizontalPodAutoscaler"].Spec.ScaleTargetRef
		if to.Kind != "Deployment" || to.Name != all["Deployment"].Metadata.Name {
			t.Errorf("the autoscaler scales %+v", to)
		}
		if from := node.EnvFrom; len(from) != 1 || from[0].SecretRef.Name != all["Secret"].Metadata.Name {
			t.Errorf("the environment comes from %+v and not from the secret", from)
		}
	})

	env := map[string]string{}
	for _, e := range node.Env {
		env[e.Name] = e.Value
	}
	for name, value := range all["Secret"].StringData {
		env[name] = value
	}
	c := load(t, env)
	t.Run("upgrade", func(t *testing.T) {
		pod := all["Job"].Spec.Template.Spec
		job := pod.Containers[0]
		if !slices.Equal(job.Args, []string{"upgrade"}) ||
			all["Job"].Metadata.Namespace != all["Namespace"].Metadata.Name {
			t.Errorf("the job runs %q in the namespace %s", job.Args, all["Job"].Metadata.Namespace)
		}
		for what, differs := range map[string]string{
			"environment": cmp.Diff(node.EnvFrom, job.EnvFrom),
			"volumes":     cmp.Diff(node.VolumeMounts, job.VolumeMounts),
			"sizes":       cmp.Diff(pods.Spec.Volumes, pod.Volumes),
			"user":        cmp.Diff(pods.Spec.SecurityContext, pod.SecurityContext),
		} {
			if differs != "" {
				t.Errorf("the %s of nodes and of the upgrade differ (-nodes +upgrade):\n%s", what, differs)
			}
		}
	})
	t.Run("ports", func(t *testing.T) {
		ports := map[string]string{}
		for _, p := range node.Ports {
			ports[p.Name] = strconv.Itoa(p.ContainerPort)
		}
		want := map[string]string{"http": portOf(t, c.Addr), "admin": portOf(t, c.AdminAddr)}
		if diff := cmp.Diff(want, ports); diff != "" {
			t.Errorf("settings and ports differ (-want +got):\n%s", diff)
		}
		names := map[string]string{
			"Service": all["Service"].Spec.Ports[0].TargetPort,
			"Ingress": all["Ingress"].Spec.Rules[0].HTTP.Paths[0].Backend.Service.Port.Name,
			"open":    all["NetworkPolicy"].Spec.Ingress[0].Ports[0].Port,
		}
		if diff := cmp.Diff(map[string]string{"Service": "http", "Ingress": "http", "open": "http"},
			names); diff != "" {
			t.Errorf("ports that clients reach (-want +got):\n%s", diff)
		}
	})
	t.Run("probes", func(t *testing.T) {
		for name, p := range map[string]probe{
			"/healthz startup": node.StartupProbe, "/healthz liveness": node.LivenessProbe,
			"/readyz readiness": node.ReadinessProbe,
		} {
			if want, _, _ := strings.Cut(name, " "); p.HTTPGet.Path != want || p.HTTPGet.Port != "http" {
				t.Errorf("%s asks %+v", name, p.HTTPGet)
			}
		}
	})
	t.Run("stopping", func(t *testing.T) {
		grace := time.Duration(pods.Spec.TerminationGracePeriodSeconds) * time.Second
		if grace < c.Drain+c.Shutdown+10*time.Second {
			t.Errorf("a pod is killed after %s; a stop may take %s and %s", grace, c.Drain, c.Shutdown)
		}
		p := node.ReadinessProbe
		if found := time.Duration(p.PeriodSeconds*p.FailureThreshold) * time.Second; c.Drain < 2*found {
			t.Errorf("a node drains for %s; Kubernetes notices that it is not ready after %s", c.Drain, found)
		}
	})
	t.Run("files", func(t *testing.T) {
		sizes := map[string]int64{}
		for _, m := range node.VolumeMounts {
			for _, v := range pods.Spec.Volumes {
				if v.Name == m.Name {
					sizes[m.MountPath] = gibibytes(t, v.EmptyDir.SizeLimit)
				}
			}
		}
		if sizes[c.Data] < c.CacheSize+c.CacheSize/4 || sizes["/tmp"] == 0 {
			t.Errorf("the volumes are %v; the cache takes %d bytes of %s, and a publish needs /tmp", sizes,
				c.CacheSize, c.Data)
		}
		if !node.SecurityContext.ReadOnlyRootFilesystem {
			t.Error("the root file system is writable")
		}
		image := read(t, "container/Containerfile")
		user := strconv.Itoa(pods.Spec.SecurityContext.RunAsUser)
		if data := assignments(image)["HERBARIUM_DATA"]; data != c.Data ||
			!strings.Contains(image, "\nUSER "+user+":") {
			t.Errorf("the pod runs as %s with data in %s; the image is made for another user or folder (%s)", user,
				c.Data, data)
		}
		if !slices.Equal(node.Args, []string{"serve"}) {
			t.Errorf("the arguments are %q", node.Args)
		}
	})
}

func portOf(t *testing.T, addr string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Error(err)
	}
	return port
}

// gibibytes parses a quantity in Gi, the only unit that is used for volumes here.
func gibibytes(t *testing.T, quantity string) int64 {
	t.Helper()
	number, ok := strings.CutSuffix(quantity, "Gi")
	n, err := strconv.ParseInt(number, 10, 32)
	if !ok || err != nil {
		t.Errorf("%q is not a number of Gi", quantity)
	}
	return n << 30
}
