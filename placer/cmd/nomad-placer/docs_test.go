package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v2"

	"github.com/nomad-placer/nomad-placer/examples/install"
	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/command/commandtest"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
)

// Every command that a document shows exists, with its options; so does every
// make target.
func TestDocumentsShowRealCommands(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(commandtest.Repository, "GNUmakefile"))
	if err != nil {
		t.Fatal(err)
	}
	shown := commandtest.CheckDocuments(t, nomadPlacer())
	for name, text := range commandtest.Documents(t) {
		for _, line := range commandtest.ShownLines(text) {
			for _, words := range commandtest.CommandsIn(line) {
				if args, ok := commandtest.ArgumentsOf(words, "make"); ok && len(args) > 0 && !strings.Contains(string(makefile), "\n"+args[0]+":") {
					t.Errorf("%s: %q: there is no such target", name, line)
				}
			}
		}
	}
	if shown < 50 {
		t.Errorf("only %d commands were found: are they still read?", shown)
	}
}

func TestCommandsAreFoundAndChecked(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`nomad-placer job run -var 'a=b c' -detach x.hcl`:                         "",
		`NOMAD_ADDR=x sudo bin/nomad-placer job explain -t '{{.}} | -x' c | jq .`: "",
		`nomad-placer job rnu x.hcl`:                                              `unknown command "job rnu"`,
		`cat x | nomad-placer job validate -ofline -`:                             "job validate has no option -ofline",
		`nomad-placer sim run -- x`:                                               "nomad-placer sim has moved",
		`nomad-placer agent -- -x`:                                                "",
		`echo ok && nomad-placer job`:                                             "",
		`nomad-placer nonsense # why`:                                             `unknown command "nonsense"`,
	} {
		got, found := "", false
		for _, words := range commandtest.CommandsIn(line) {
			if args, ok := commandtest.ArgumentsOf(words, "nomad-placer"); ok {
				got, found = commandtest.CheckCommand(nomadPlacer(), args), true
			}
		}
		if !found || got != want {
			t.Errorf("%s: found %v, %q, want %q", line, found, got, want)
		}
	}
}

var markdownLink = regexp.MustCompile(`\]\(([^)#: ]+)(#[^)]*)?\)`)

// Every link from one file of the repository to another leads somewhere.
func TestDocumentsLinkToWhatIsThere(t *testing.T) {
	t.Parallel()
	for name, text := range commandtest.Documents(t) {
		for _, m := range markdownLink.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(commandtest.Repository, filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: the link to %s: %v", name, m[1], err)
			}
		}
	}
}

// The jobs that are installed start the agent with options that there are, and give its
// token to nobody but its own user.
func TestInstalledJobsStartTheAgent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{install.AgentJob, install.ServiceJob, install.PagesJob} {
		f, _ := agentCommand().Flags()
		options := regexp.MustCompile(`"-([a-z-]+)", "`).FindAllStringSubmatch(text, -1)
		for _, m := range options {
			if f.Lookup(m[1]) == nil {
				t.Errorf("the agent has no option -%s", m[1])
			}
		}
		if len(options) < 4 {
			t.Errorf("only %d options were found: are they still read?", len(options))
		}
		for _, want := range []string{"file = true", "user   = var.user", "/nomad_placer.jwt"} {
			if !strings.Contains(text, want) || strings.Contains(text, "env = true") {
				t.Errorf("the token is not a file of the agent's user alone: %s is missing in\n%s", want, text)
			}
		}
	}
}

// The example configuration says the defaults, as it claims.
func TestInstalledConfigurationIsTheDefault(t *testing.T) {
	t.Parallel()
	a := agentFlags{file: filepath.Join(commandtest.Repository, "examples/install/agent.hcl")}
	fromFile, err := a.config()
	if err != nil {
		t.Fatal(err)
	}
	byDefault, err := (&agentFlags{}).config()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := asText(t, fromFile), asText(t, byDefault); got != want {
		t.Errorf("examples/install/agent.hcl says\n%s\nthe defaults are\n%s", got, want)
	}
}

func asText(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	if err := command.PrintJSON(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const operatorGuide = "../../docs/operator-guide.md"

// leading are records of a replica that leads: it counts what it did.
type leading struct{ *dashboardtest.Records }

func (leading) AdaptationStats() cluster.AdaptationStats {
	return cluster.AdaptationStats{
		Actions:   map[cluster.ActionCount]int{{Kind: "grow", Result: cluster.ActionDone}: 1},
		Below:     map[cluster.WorkloadID]bool{dashboardtest.CacheID: true},
		BelowTime: map[cluster.WorkloadID]time.Duration{dashboardtest.CacheID: time.Second},
	}
}

func (leading) RefusedReleases() int { return 1 }

func (leading) RefusedProfiles() int { return 0 }

// exportedMetrics are the names on an agent's /metrics over records that have
// one of everything.
func exportedMetrics(t *testing.T) []string {
	t.Helper()
	r := dashboardtest.Fixture()
	for i := range r.AllObservations[dashboardtest.CacheID] {
		r.AllObservations[dashboardtest.CacheID][i].Use = &cluster.Use{CPUMHz: 100, MemoryBytes: 1 << 20}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, pages(t, leading{r})+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^# TYPE ([a-z_]+) `).FindAllStringSubmatch(string(text), -1) {
		names = append(names, m[1])
	}
	return names
}

// The table of metrics in the operator guide is what an agent exports, no more
// and no less.
func TestGuideHasEveryMetric(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(operatorGuide)
	if err != nil {
		t.Fatal(err)
	}
	var documented, exported []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(placer_[a-z_]+)` \\|").FindAllStringSubmatch(string(guide), -1) {
		documented = append(documented, m[1])
	}
	for _, name := range exportedMetrics(t) {
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			exported = append(exported, name)
		}
	}
	slices.Sort(documented)
	slices.Sort(exported)
	if !slices.Equal(documented, exported) || len(documented) == 0 {
		t.Errorf("the guide has %v\nan agent exports %v", documented, exported)
	}
}

type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		}
	}
}

// Every alert is made of metrics that exist, names commands that exist, and is
// in the guide.
func TestAlerts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile(operatorGuide)
	if err != nil {
		t.Fatal(err)
	}
	var file ruleFile
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	known := append(exportedMetrics(t), "up") // Prometheus' own
	var alerts []string
	for _, group := range file.Groups {
		for _, r := range group.Rules {
			alerts = append(alerts, r.Alert)
			names := metricsIn(r.Expr)
			for _, name := range names {
				if !slices.Contains(known, name) {
					t.Errorf("%s: no metric %s is exported", r.Alert, name)
				}
			}
			if len(names) == 0 || r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s lacks a metric, a severity, a summary or a description", r.Alert)
			}
			for _, line := range commandtest.ShownLines(r.Annotations["description"]) {
				for _, words := range commandtest.CommandsIn(strings.ReplaceAll(line, "{{ $labels.job }}", "JOB")) {
					if args, ok := commandtest.ArgumentsOf(words, "nomad-placer"); ok && commandtest.CheckCommand(nomadPlacer(), args) != "" {
						t.Errorf("%s: %q: %s", r.Alert, line, commandtest.CheckCommand(nomadPlacer(), args))
					}
				}
			}
		}
	}
	for _, alert := range alerts {
		if !strings.Contains(string(guide), "| `"+alert+"` |") {
			t.Errorf("the guide does not say what to do about %s", alert)
		}
	}
	if len(alerts) == 0 || len(slices.Compact(slices.Sorted(slices.Values(alerts)))) != len(alerts) {
		t.Errorf("no alerts, or two of one name: %v", alerts)
	}
}

// metricsIn are the metrics of a PromQL expression: its words less matchers,
// lists of labels, functions and operators.
func metricsIn(expr string) []string {
	expr = regexp.MustCompile(`\{[^}]*\}|\[[^\]]*\]|"[^"]*"|\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)`).ReplaceAllString(expr, " ")
	var out []string
	for _, m := range regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*\s*\(?`).FindAllString(expr, -1) {
		name := strings.TrimSpace(m)
		if !strings.HasSuffix(name, "(") && !slices.Contains([]string{"and", "or", "unless", "bool", "offset"}, name) {
			out = append(out, name)
		}
	}
	return out
}

func TestMetricsInAnExpression(t *testing.T) {
	t.Parallel()
	got := metricsIn(`max by (job) (a{x="b"}) < 0.9 * max(rate(c_total[5m])) or absent(up{job="d"})`)
	if want := []string{"a", "c_total", "up"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What the guides show as HCL is read as the placer reads it.
func TestGuidesShowValidHCL(t *testing.T) {
	t.Parallel()
	jobs, configurations, prices := 0, 0, 0
	for name, text := range commandtest.Documents(t) {
		if !strings.HasPrefix(name, "placer/docs/") {
			continue
		}
		for _, part := range strings.Split(text, "```hcl\n")[1:] {
			source, _, _ := strings.Cut(part, "```")
			switch first, _, _ := strings.Cut(strings.TrimSpace(source), " "); first {
			case "job":
				jobs++
				checkShownJob(t, name, source)
			case "pools", "provision":
				configurations++
				if _, err := blockOptions().DecodeAgentConfig([]byte(source), name); err != nil {
					t.Error(err)
				}
			case "owned":
				prices++
				if _, err := blockOptions().DecodePrices([]byte(source), name, nil); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if jobs < 2 || configurations < 3 || prices < 2 {
		t.Errorf("only %d jobs, %d configurations and %d price lists were found: are they still read?", jobs, configurations, prices)
	}
}

func checkShownJob(t *testing.T, name, source string) {
	t.Helper()
	_, blocks, problems := jobhcl.Extract([]byte(source), name)
	if problems.HasErrors() || len(blocks) == 0 {
		t.Errorf("%s: %d performance blocks, %v", name, len(blocks), problems)
	}
	for group := range blocks {
		if _, warnings, err := blockOptions().DecodeBlock(blocks[group], name); err != nil || len(warnings) > 0 {
			t.Errorf("%s: %v, %v", name, err, warnings)
		}
	}
}
