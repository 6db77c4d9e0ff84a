package nomadapi

import (
	"encoding/json"
	"fmt"
)

// Unfinished says what a job that is not registered yet leaves to Nomad's defaults
// although decisions follow from it; empty where it is all there, as in what Nomad's
// command line and its parse endpoint make.
func Unfinished(raw map[string]any) string {
	job := object(raw)
	switch {
	case job.text("ID") == "" || job.text("Type") == "":
		return "its id or its type"
	case job["Periodic"] != nil || job["ParameterizedJob"] != nil || job["Multiregion"] != nil || job.text("Payload") != "":
		return "when or where it starts"
	}
	for _, group := range job.objects("TaskGroups") {
		if _, ok := group["Count"].(json.Number); !ok {
			return fmt.Sprintf("the count of group %q", group.text("Name"))
		}
		for _, task := range group.objects("Tasks") {
			r := task.object("Resources")
			_, cpu := r["CPU"].(json.Number)
			_, cores := r["Cores"].(json.Number)
			if _, memory := r["MemoryMB"].(json.Number); !memory || !cpu && !cores {
				return fmt.Sprintf("the resources of task %q", task.text("Name"))
			}
		}
	}
	return ""
}
