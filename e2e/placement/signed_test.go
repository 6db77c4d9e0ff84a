//go:build e2e

package placement

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Who may submit jobs cannot ask of the driver what the agent asks of it.
func TestUnsignedRequestsAreRefused(t *testing.T) {
	for file, want := range map[string]string{
		"driver-profile.hcl":  "profile: the request is not signed",
		"driver-transfer.hcl": "lend: the request is not signed",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("../jobs", file))
			if err != nil {
				t.Fatal(err)
			}
			variables := map[string]string{}
			if file == "driver-transfer.hcl" {
				variables["allocation"] = "0f0f0f0f-12c6-6968-5ea3-106cc4df0542"
			}
			job, err := shared.Parse(string(text), variables)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := shared.API().Jobs().Register(job, nil); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if _, _, err := shared.API().Jobs().Deregister(*job.ID, true, nil); err != nil {
					t.Error(err)
				}
			}()
			eventually(t.Context(), t, "the driver refuses it: "+want, time.Minute, func() bool {
				allocs, _, err := shared.API().Jobs().Allocations(*job.ID, false, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range allocs {
					for _, task := range a.TaskStates {
						for _, e := range task.Events {
							if task.Failed && contains(e.DisplayMessage, want) {
								return true
							}
						}
					}
				}
				return false
			})
		})
	}
}
