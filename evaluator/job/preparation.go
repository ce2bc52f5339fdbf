package job

import "warpboard/tasks"

// PrecompileJob asks a worker to compile an open task's files before the first submission.
type PrecompileJob struct {
	VersionID int64            `json:"version_id"`         // version of the task; 0 if the worker has all tasks
	TaskName  string           `json:"name,omitempty"`     // the task's name, for logs
	TaskHash  string           `json:"task_key,omitempty"` // as in the task's jobs; empty if nothing can be precompiled
	Task      tasks.Definition `json:"task"`
	// Sources has the content of each file of Task.Files by its name in a run, except the submission's files.
	Sources map[string][]byte `json:"sources,omitempty"`
}
