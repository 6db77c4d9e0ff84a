//go:build e2e

package placement

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Nomad asks whoever registers a job for the right to its volumes, and releasing a held
// job registers it: under the policy that is shipped, jobs with a volume run, profiled
// or not. The copy for profiling has the volume and cannot write to it.
func TestJobsWithAVolumeAreReleased(t *testing.T) {
	for id, block := range map[string]string{
		"volume-profiled": countingBlock,
		"volume-skipped":  "target {\n rate = 50\n}\nprobe \"log\" {\n pattern = \"units (\\\\d+)\"\n}\nprofile {\n skip = true\n}\n",
	} {
		t.Run(id, func(t *testing.T) {
			ctx := t.Context()
			script := `test -d /data && echo "$NOMAD_JOB_ID" >>/data/"$1"; ` + counting
			submit(ctx, t, held(id, block, script, func(j *api.Job) { mountVolume(j, id) }))
			if id == "volume-profiled" {
				waitStage(ctx, t, id, placer.StageProfile)
			}
			released(ctx, t, id, time.Minute)
			var wrote []byte
			eventually(ctx, t, id+" has written to its volume", 30*time.Second, func() bool {
				text, err := os.ReadFile(filepath.Join(volumeDir, id))
				wrote = text
				return err == nil && len(text) > 0
			})
			if got := strings.Fields(string(wrote)); len(got) != 1 || got[0] != id {
				t.Errorf("written to the volume by %q, want by %s once", got, id)
			}
		})
	}
}

// mountVolume gives the job's task the host volume at /data, and its script an argument.
func mountVolume(j *api.Job, argument string) {
	group := j.TaskGroups[0]
	group.Volumes = map[string]*api.VolumeRequest{volumeName: {Name: volumeName, Type: "host", Source: volumeName}}
	task := group.Tasks[0]
	task.Driver = "exec" // as nobody
	task.VolumeMounts = []*api.VolumeMount{{Volume: ptr(volumeName), Destination: ptr("/data")}}
	task.Config["args"] = append(task.Config["args"].([]string), "sh", argument)
}
