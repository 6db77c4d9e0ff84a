//go:build e2e

package sweep

import (
	"bytes"
	"context"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

const (
	basePort = 27000
	binDir   = "../../bin"
	// experiments are of drawn programs in both worlds, of applications measured next to each
	// other, and of deadlines; longer ones say how much longer they take.
	experiments = "paragon-local-low,tracon-models,pprtte-quiet"
	longer      = "paragon,quasar"
)

func TestMain(m *testing.M) {
	cluster.Reexec()
	os.Exit(m.Run())
}

// figures makes pages into a folder, and says how long that took.
func figures(ctx context.Context, t *testing.T, environment []string, flags ...string) (folder string, took time.Duration) {
	t.Helper()
	folder = t.TempDir()
	bin, err := filepath.Abs(filepath.Join(binDir, "nomad-placer-sim"))
	if err != nil {
		t.Fatal(err)
	}
	only := experiments
	if *ratio {
		only = longer
	}
	args := append([]string{"figures", "-only", only, "-seeds", "4", "-out", folder, "-work", t.TempDir(), "-data-root", filepath.Join(folder, "none")}, flags...)
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir, cmd.Env = "../..", environment
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, said.String())
	}
	t.Logf("said:\n%s", said.String())
	return folder, time.Since(begun)
}

var ratio = flag.Bool("ratio", false, "measure, on a quiet machine and with longer runs, how much longer it takes than without Nomad")

// TestFiguresOnNomad: three clients make the same bytes as this machine without Nomad, while one of
// them dies on the way, and nothing is left on the cluster.
func TestFiguresOnNomad(t *testing.T) {
	ctx := t.Context()
	here, alone := figures(ctx, t, os.Environ())
	nomad, err := filepath.Abs(filepath.Join(binDir, "nomad"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.Start(ctx, cluster.Config{Nomad: nomad, BasePort: basePort, RunID: "sweep", ACL: true, Clients: []cluster.Client{{Name: "one"}, {Name: "two"}, {Name: "three"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error("stopping the cluster:", err)
		}
	})
	environment := append(c.Env(os.Environ()), "NOMAD_TOKEN="+token(t, c.API()))
	if *ratio {
		// As many at a time as there are CPUs: three clients of one machine have no more.
		onNomad, took := figures(ctx, t, environment, "-on-nomad", "-at-once", strconv.Itoa(runtime.NumCPU()))
		same(t, here, onNomad)
		t.Logf("%.1f s on this machine, %.1f s on three clients of it: %.2f times", alone.Seconds(), took.Seconds(), took.Seconds()/alone.Seconds())
		return
	}
	lost := make(chan error, 1)
	go func() {
		if err := running(ctx, c.API(), "three"); err != nil {
			lost <- err
			return
		}
		lost <- c.LoseClient(ctx, 2)
	}()
	onNomad, _ := figures(ctx, t, environment, "-on-nomad")
	if err := <-lost; err != nil {
		t.Fatal(err)
	}
	same(t, here, onNomad)
	nothingLeft(t, c.API())
}

// token has the rights that examples/sim/README.md asks for, and no others.
func token(t *testing.T, client *api.Client) string {
	t.Helper()
	const name = "sweep"
	rules := `namespace "default" { capabilities = ["submit-job", "dispatch-job", "read-job", "list-jobs", "read-fs"] }
node { policy = "read" }`
	if _, err := client.ACLPolicies().Upsert(&api.ACLPolicy{Name: name, Rules: rules}, nil); err != nil {
		t.Fatal(err)
	}
	made, _, err := client.ACLTokens().Create(&api.ACLToken{Name: name, Type: "client", Policies: []string{name}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made.SecretID
}

// running waits until a node has a dispatch.
func running(ctx context.Context, client *api.Client, node string) error {
	for ctx.Err() == nil {
		all, _, err := client.Allocations().List((&api.QueryOptions{}).WithContext(ctx))
		if err != nil {
			return err
		}
		for _, a := range all {
			if a.NodeName == node && a.ClientStatus == api.AllocClientStatusRunning {
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return ctx.Err()
}

func nothingLeft(t *testing.T, client *api.Client) {
	t.Helper()
	jobs, _, err := client.Jobs().List(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		t.Errorf("%s is left, %s", j.ID, j.Status)
	}
}

// same compares all files of two folders.
func same(t *testing.T, want, got string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(want, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(want, path)
		if err != nil {
			return err
		}
		a, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(got, name))
		if err != nil {
			return err
		}
		if files++; !bytes.Equal(a, b) {
			t.Errorf("%s differs", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Error("there are no pages")
	}
}
