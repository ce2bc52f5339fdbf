package job

import "warpboard/tasks"

// Preparation announces an open task to workers, so that they compile the task's parts before the first submission. It is a
// hint: if it is lost, the first run takes longer.
type Preparation struct {
	Version int              `json:"version"`
	Device  string           `json:"device"`
	Name    string           `json:"name"`     // the task's, for people who read logs
	TaskKey string           `json:"task_key"` // as in the task's jobs
	Task    tasks.Definition `json:"task"`
	// Sources holds the text of every file of Task.Files by its run-time name, without the submission's.
	Sources map[string][]byte `json:"sources"`
}
