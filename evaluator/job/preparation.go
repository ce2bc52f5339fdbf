package job

import "warpboard/tasks"

// Preparation gives a worker an open task, so that it compiles the task's parts before the first submission.
type Preparation struct {
	VersionID int64            `json:"version_id"`         // of the task; 0: the worker knows all
	Name      string           `json:"name,omitempty"`     // the task's, for people who read logs
	TaskKey   string           `json:"task_key,omitempty"` // as in the task's jobs; empty: nothing of it can be precompiled
	Task      tasks.Definition `json:"task"`
	// Sources holds the text of every file of Task.Files by its run-time name, without the submission's.
	Sources map[string][]byte `json:"sources,omitempty"`
}
