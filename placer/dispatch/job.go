package dispatch

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"
)

// Options of a run.
type Options struct {
	// Job is the ID of the parameterized job; one of that ID is replaced, and what it had
	// dispatched is ended: it is of a run that was killed.
	Job string
	// Program is what a node runs, by its path there, and Arguments what it is called with: the
	// path of the payload and the folder for results are added to them.
	Program   string
	Arguments []string
	// Artifact is where a node gets the program from, if that is not there: a URL as the source
	// of an artifact block.
	Artifact string
	Driver   string // raw_exec if empty
	NodePool string
	CPUMHz   int // of a dispatch
	MemoryMB int

	AtOnce   int           // dispatches that are not ended; 0: four for each ready node
	Attempts int           // of a unit; 0: 5
	Bundle   time.Duration // that a dispatch should take; 0: 15 s
	Now      func() time.Time
	After    func(time.Duration) <-chan time.Time
	// Says gets a sentence about what was handed out again, or why nothing runs; may be nil.
	Says func(text string)
}

const (
	defaultAttempts = 5
	defaultBundle   = 15 * time.Second
	perNode         = 4 // dispatches, so that a node that ends one has the next
	taskName        = "unit"
	payloadFile     = "payload"
	diskMB          = 300
)

// job is the parameterized job.
func (o Options) job() *api.Job {
	one, none, no, fail := 1, 0, false, "fail"
	delay, interval := time.Second, time.Minute
	group := api.NewTaskGroup(taskName, one)
	disk := diskMB
	group.EphemeralDisk = &api.EphemeralDisk{SizeMB: &disk}
	// What fails is handed out again by Run, and not restarted by Nomad as well.
	group.RestartPolicy = &api.RestartPolicy{Attempts: &none, Mode: &fail, Delay: &delay, Interval: &interval}
	group.ReschedulePolicy = &api.ReschedulePolicy{Attempts: &none, Unlimited: &no}
	arguments := append(append([]string(nil), o.Arguments...), "${NOMAD_TASK_DIR}/"+payloadFile, "${NOMAD_ALLOC_DIR}/data")
	task := api.NewTask(taskName, cmp.Or(o.Driver, "raw_exec")).SetConfig("command", o.Program).SetConfig("args", arguments).
		Require(&api.Resources{CPU: &o.CPUMHz, MemoryMB: &o.MemoryMB})
	task.DispatchPayload = &api.DispatchPayloadConfig{File: payloadFile}
	if o.Artifact != "" {
		source := o.Artifact
		task.Artifacts = []*api.TaskArtifact{{GetterSource: &source}}
	}
	files, megabytes := 1, 1
	task.LogConfig = &api.LogConfig{MaxFiles: &files, MaxFileSizeMB: &megabytes}
	group.AddTask(task)
	job := api.NewBatchJob(o.Job, o.Job, "", 50).AddTaskGroup(group).AddDatacenter("*")
	job.ParameterizedJob = &api.ParameterizedJobConfig{Payload: "required"}
	if o.NodePool != "" {
		job.NodePool = &o.NodePool
	}
	return job
}

// notOfJobs are the characters that do not belong into the ID of a job.
var notOfJobs = regexp.MustCompile(`[^a-z0-9]+`)

// JobOf is the ID of a run's job. It is the same for the same folder of kept results on the same
// machine: what a run that was killed left on the cluster is found again, and runs for other folders
// are not touched.
func JobOf(program, folder string) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	whole, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(whole))
	return program + "-" + notOfJobs.ReplaceAllString(strings.ToLower(host), "-") + "-" + hex.EncodeToString(sum[:4]), nil
}
