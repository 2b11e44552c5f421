package deploy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"herbarium/internal/blobs/s3test"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
	"herbarium/internal/store/pgtest"
)

const (
	rulesFile     = "monitoring/herbarium.rules.yaml"
	dashboardFile = "monitoring/herbarium.dashboard.json"
)

// alertRule is a rule of Prometheus.
type alertRule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func alertRules(t *testing.T) (rules []alertRule) {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []alertRule
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(read(t, rulesFile)))
	decoder.KnownFields(true)
	must.NoError(t, decoder.Decode(&file))
	for _, g := range file.Groups {
		rules = append(rules, g.Rules...)
	}
	return rules
}

// panelQueries returns the expressions of the dashboard by the titles of their panels.
func panelQueries(t *testing.T) map[string][]string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	must.NoError(t, json.Unmarshal([]byte(read(t, dashboardFile)), &dashboard))
	queries := map[string][]string{}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			queries[p.Title] = append(queries[p.Title], target.Expr)
		}
	}
	return queries
}

// monitoringExpressions returns all expressions of the rules and the dashboard, by their origin,
// with the values that Grafana inserts.
func monitoringExpressions(t *testing.T) map[string]string {
	t.Helper()
	inserted := strings.NewReplacer("$__rate_interval", "5m", `"$job"`, `".*"`, `"$instance"`, `".*"`)
	all := map[string]string{}
	for _, r := range alertRules(t) {
		all["alert "+r.Alert] = r.Expr
	}
	for title, exprs := range panelQueries(t) {
		for i, e := range exprs {
			all[fmt.Sprintf("panel %s, query %d", title, i+1)] = inserted.Replace(e)
		}
	}
	return all
}

// scrapedLabels are the labels that Prometheus adds.
var scrapedLabels = []string{"job", "instance"}

// exportedMetric is a metric of a server: its label names, and the labels of each series.
type exportedMetric []map[string]string

func (m exportedMetric) has(label string) bool {
	return slices.ContainsFunc(m, func(series map[string]string) bool { _, ok := series[label]; return ok })
}

// matches reports whether a series matches all matchers of labels that the server sets. There may be
// no request that has failed, and the rules name datasets of others.
func (m exportedMetric) matches(matchers []matcher) bool {
	return slices.ContainsFunc(m, func(series map[string]string) bool {
		return !slices.ContainsFunc(matchers, func(x matcher) bool {
			if slices.Contains(scrapedLabels, x.label) || x.label == "status" || x.label == "dataset" {
				return false
			}
			pattern := x.value
			if !strings.HasSuffix(x.op, "~") {
				pattern = regexp.QuoteMeta(pattern)
			}
			return regexp.MustCompile("^(?:"+pattern+")$").MatchString(series[x.label]) == strings.HasPrefix(x.op, "!")
		})
	})
}

var (
	seriesLabel = regexp.MustCompile(`([a-z_]+)="((?:[^"\\]|\\.)*)"`)
	histograms  = regexp.MustCompile(`_(bucket|sum|count)$`)
)

// exported returns the metrics of Herbarium that a server exports.
func exported(ctx context.Context, s *programtest.Server) (map[string]exportedMetric, error) {
	series, err := s.Metrics(ctx)
	metrics := map[string]exportedMetric{}
	for key := range series {
		name, rest, _ := strings.Cut(key, "{")
		if !strings.HasPrefix(name, "herbarium_") && !strings.HasPrefix(name, "http_server_") {
			continue
		}
		labels := map[string]string{}
		for _, m := range seriesLabel.FindAllStringSubmatch(rest, -1) {
			labels[m[1]] = m[2]
		}
		metrics[name] = append(metrics[name], labels)
	}
	return metrics, err
}

// documentedMetrics returns the labels of the metrics in the guide, and those that a server without
// an object store lacks.
func documentedMetrics(t *testing.T) (labels map[string][]string, shared map[string]bool) {
	t.Helper()
	_, section, _ := strings.Cut(read(t, "../docs/operations.md"), "\n### Metrics and profiles\n")
	section, _, _ = strings.Cut(section, "\n### ")
	labels, shared = map[string][]string{}, map[string]bool{}
	code := regexp.MustCompile("`([^`]+)`")
	for _, row := range regexp.MustCompile(`(?m)^\| (.*?) \| (.*?) ?\| (.*) \|$`).FindAllStringSubmatch(section, -1) {
		for _, name := range code.FindAllStringSubmatch(row[1], -1) {
			labels[name[1]] = []string{}
			for _, label := range code.FindAllStringSubmatch(row[2], -1) {
				labels[name[1]] = append(labels[name[1]], label[1])
			}
			slices.Sort(labels[name[1]])
			shared[name[1]] = strings.Contains(strings.ToLower(row[3]), "absent without an object store")
		}
	}
	return labels, shared
}

// TestMonitoring compares the dashboard, the alerts and the guide with the metrics of a server that
// has published a file, failed to publish another one, and was backed up.
func TestMonitoring(t *testing.T) {
	t.Parallel()
	program, err := programtest.Install(t.Context(), t.TempDir())
	must.NoError(t, err)
	for name, settings := range map[string]func(t *testing.T) []string{
		"one machine": func(*testing.T) []string { return nil },
		"cluster": func(t *testing.T) []string {
			t.Helper()
			db := &pgtest.Cluster{TCP: true}
			t.Cleanup(func() { must.NoError(t, db.Stop()) })
			address := db.Database(t)
			return append(s3test.Environ(), "HERBARIUM_DATABASE="+address, "HERBARIUM_BLOBS="+
				s3test.New(t).URL(t, "herbarium"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			must.NoError(t, os.WriteFile(filepath.Join(folder, "good.csv"), []byte("a,b\n1,2\n"), 0o600))
			must.NoError(t, os.WriteFile(filepath.Join(folder, "bad.csv"), []byte("a,b\n1,2,3\n"), 0o600))
			must.NoError(t, os.Mkdir(filepath.Join(folder, "fresh"), 0o700))
			must.NoError(t, os.WriteFile(filepath.Join(folder, "fresh", "datapackage.json"),
				[]byte(`{"resources": [{"name": "a", "data": [{"id": 1}], "herbarium": {"expected": "daily"}}]}`), 0o600))
			environment := append(settings(t), "HERBARIUM_DATA="+filepath.Join(t.TempDir(), "data"))
			s, err := programtest.Start(t.Context(),
				programtest.Options{Program: program, Args: []string{"--watch", folder}, Settings: environment})
			must.NoError(t, err)
			t.Cleanup(s.Kill)
			out, code, err := programtest.Run(t.Context(), program, environment, "backup",
				filepath.Join(t.TempDir(), "backup.tar"))
			if err != nil || code != 0 {
				t.Fatalf("backup: exit code %d, %v\n%s", code, err, out)
			}
			_, err = programtest.Send(t.Context(), http.DefaultClient, "GET", s.URL+"/api/v1", "")
			must.NoError(t, err)
			documented, shared := documentedMetrics(t)
			var metrics map[string]exportedMetric
			// health is checked in the background
			must.NoError(t, programtest.Eventually(t.Context(), func(ctx context.Context) (err error) {
				metrics, err = exported(ctx, s)
				if err == nil && !metrics["herbarium_part_up"].matches([]matcher{{"part", "=", "sources"}}) {
					err = fmt.Errorf("sources were not checked yet")
				}
				return err
			}))
			isShared := name == "cluster"
			checkDocumented(t, metrics, documented, func(metric string) bool { return isShared || !shared[metric] })
			checkExpressions(t, metrics, func(metric string) bool {
				return isShared ||
					!shared[histograms.ReplaceAllString(metric, "")]
			})
		})
	}
}

// checkDocumented compares the metrics that a server exports with those in the guide.
func checkDocumented(t *testing.T, metrics map[string]exportedMetric, documented map[string][]string,
	exists func(string) bool) {
	t.Helper()
	got, want := map[string]string{}, map[string]string{} // labels by metric
	for name, m := range metrics {
		labels := map[string]bool{}
		for _, series := range m {
			for label := range series {
				labels[label] = true
			}
		}
		delete(labels, "le")
		got[histograms.ReplaceAllString(name, "")] = strings.Join(slices.Sorted(maps.Keys(labels)), ", ")
	}
	for name, labels := range documented {
		if exists(name) {
			want[name] = strings.Join(labels, ", ")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics and their labels (-docs/operations.md +exported):\n%s", diff)
	}
}

// checkExpressions parses all expressions and checks that their metrics and labels are exported.
func checkExpressions(t *testing.T, metrics map[string]exportedMetric, exists func(string) bool) {
	t.Helper()
	for origin, expr := range monitoringExpressions(t) {
		parsed, err := parsePromQL(expr)
		if err != nil {
			t.Errorf("%s: %v", origin, err)
			continue
		}
		var known []string
		for _, s := range parsed.selectors {
			if s.name == "up" {
				continue
			}
			m, ok := metrics[s.name]
			switch {
			case !exists(s.name):
			case !ok:
				t.Errorf("%s: no metric %s", origin, s.name)
			case !m.matches(s.matchers):
				t.Errorf("%s: no series of %s matches %v", origin, s.name, s.matchers)
			}
			for _, series := range m {
				known = slices.AppendSeq(known, maps.Keys(series))
			}
			for _, x := range s.matchers {
				if ok && !m.has(x.label) && !slices.Contains(scrapedLabels, x.label) {
					t.Errorf("%s: %s has no label %s", origin, s.name, x.label)
				}
			}
		}
		for _, label := range parsed.labels {
			if len(known) > 0 && !slices.Contains(known, label) && !slices.Contains(scrapedLabels, label) {
				t.Errorf("%s: no metric has the label %s", origin, label)
			}
		}
	}
}

// TestMonitoring_alerts compares the alerts with the table in the guide, and has Prometheus check
// their file if it is installed.
func TestMonitoring_alerts(t *testing.T) {
	t.Parallel()
	var got []string
	for _, r := range alertRules(t) {
		got = append(got, r.Alert+" "+r.Labels["severity"])
		if r.For != "" && !duration.MatchString(r.For) || r.Annotations["summary"] == "" {
			t.Errorf("%s: for %q, annotations %v", r.Alert, r.For, r.Annotations)
		}
	}
	var want []string
	for _, row := range regexp.MustCompile(
		"(?m)^\\| `(Herbarium\\w+)` \\| (page|ticket) \\|").FindAllStringSubmatch(read(t, "../docs/operations.md"),
		-1) {
		want = append(want, row[1]+" "+row[2])
	}
	if !slices.Equal(got, want) {
		t.Errorf("alerts\n%q\nin docs/operations.md\n%q", got, want)
	}
	if promtool, err := exec.LookPath("promtool"); err == nil {
		if out, err := exec.CommandContext(t.Context(), promtool, "check", "rules",
			rulesFile).CombinedOutput(); err != nil {
			t.Errorf("promtool: %v\n%s", err, out)
		}
	}
}

// TestParsePromQL checks that malformed expressions are rejected.
func TestParsePromQL(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{
		"", "rate(a)", "a[5m]", "sum by (b (a)", "a > ", `a{b="c"`, `a{b=c}`, "a b", "rate(a[5])", "nothing(a)",
		"1 + 2", "a[1h] > 0", `a{"b"}`, "sum(a[5m])",
	} {
		if _, err := parsePromQL(expr); err == nil {
			t.Errorf("%q is accepted", expr)
		}
	}
}
