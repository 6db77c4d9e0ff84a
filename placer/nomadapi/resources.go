package nomadapi

import "github.com/nomad-placer/nomad-placer/placer/cluster"

// lifecycle says when a task of a group runs.
type lifecycle struct {
	Hook    string
	Sidecar bool
}

// taskAsk is what one task takes. CPU of reserved cores is not in its MHz, here
// as in a cluster.Resources.
type taskAsk struct {
	resources cluster.Resources
	lifecycle lifecycle
}

// groupAsk adds up the tasks of a group as Nomad's scheduler does: tasks that
// never run at the same time share their CPU and memory, so the group takes the
// largest of its phases; reserved cores are never shared.
func groupAsk(tasks []taskAsk, diskMB int) cluster.Resources {
	prestart, main, poststop, cores := phases(tasks)
	return cluster.Resources{
		CPUMHz:   max(prestart.CPUMHz, main.CPUMHz, poststop.CPUMHz),
		Cores:    cores,
		MemoryMB: max(prestart.MemoryMB, main.MemoryMB, poststop.MemoryMB),
		DiskMB:   diskMB,
	}
}

// phases are what the tasks take before, during and after the group's work,
// without reserved cores, which are summed over all.
func phases(tasks []taskAsk) (prestart, main, poststop cluster.Resources, cores int) {
	for _, t := range tasks {
		cores += t.resources.Cores
		r := t.resources
		r.Cores = 0
		switch t.lifecycle.Hook {
		case "prestart":
			prestart = prestart.Add(r)
			if t.lifecycle.Sidecar {
				main = main.Add(r)
			}
		case "poststop":
			poststop = poststop.Add(r)
		default: // main tasks and poststart
			main = main.Add(r)
		}
	}
	return prestart, main, poststop, cores
}

// askOf is what one allocation of a group of a job asks for.
func askOf(group object) cluster.Resources {
	return groupAsk(taskAsksOf(group), diskOf(group))
}

// besideOf is what the tasks of a group take that run beside its main tasks, and these, without
// reserved cores.
func besideOf(group object) cluster.Resources {
	_, main, _, _ := phases(taskAsksOf(group))
	return main
}

func taskAsksOf(group object) []taskAsk {
	var tasks []taskAsk
	for _, task := range group.objects("Tasks") {
		tasks = append(tasks, taskAskOf(task))
	}
	return tasks
}

func diskOf(group object) int { return int(group.object("EphemeralDisk").number("SizeMB")) }

func taskAskOf(task object) taskAsk {
	ask := ownAsk(task)
	ask.MemoryMB += int(task.object("Resources").number("SecretsMB"))
	l := task.object("Lifecycle")
	return taskAsk{ask, lifecycle{l.text("Hook"), l.boolean("Sidecar")}}
}

// ownAsk is what a task's resources block says.
func ownAsk(task object) cluster.Resources {
	r := task.object("Resources")
	ask := cluster.Resources{Cores: int(r.number("Cores")), MemoryMB: int(r.number("MemoryMB"))}
	if ask.Cores == 0 {
		ask.CPUMHz = int(r.number("CPU"))
	}
	return ask
}
