package job

import "warpboard/tasks"

// Preparation tells workers of a task that can be submitted to, so that they compile what belongs to
// the task before anyone does. It is a hint: when it is lost, the first run takes longer.
type Preparation struct {
	Version int              `json:"version"`
	Device  string           `json:"device"`
	Name    string           `json:"name"`     // the task's, for people who read logs
	TaskKey string           `json:"task_key"` // as in the task's jobs
	Task    tasks.Definition `json:"task"`
	// Sources holds the text of every file of Task.Files by its run-time name, without the submission's.
	Sources map[string][]byte `json:"sources"`
}
