package popcorn

import (
	"time"

	"warpboard/tasks"
)

// leaderboard is a task in popcorn-cli's format.
type leaderboard struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"` // slug
	Description string       `json:"description"`
	CreatorID   int64        `json:"creator_id"`
	Deadline    *time.Time   `json:"deadline"`
	GPUTypes    []string     `json:"gpu_types"`
	Task        taskMetadata `json:"task"`
}

type taskMetadata struct {
	Lang tasks.Lang `json:"lang"`
	Tags []string   `json:"tags"`
}

// boardEntry is an entry of a board in popcorn-cli's format.
type boardEntry struct {
	SubmissionID    int64     `json:"submission_id"`
	Rank            int       `json:"rank"`
	SubmissionName  string    `json:"submission_name"`
	SubmissionTime  time.Time `json:"submission_time"`
	SubmissionScore float64   `json:"submission_score"` // seconds
	LeaderboardName string    `json:"leaderboard_name"`
	UserID          string    `json:"user_id"`
	UserName        string    `json:"user_name"`
	GPUType         string    `json:"gpu_type"`
}

// runnerQueue is the number of runs that wait for a GPU.
type runnerQueue struct {
	Runner     string `json:"runner"`
	GPU        string `json:"gpu"`
	QueuedJobs int    `json:"queued_jobs"`
}

// acceptedResponse is the response to a submission whose result the client polls.
type acceptedResponse struct {
	Status  string       `json:"status"`
	Details submissionID `json:"details"`
	Queue   *runnerQueue `json:"runner_queue"`
}

type submissionID struct {
	ID int64 `json:"id"`
}

// listedSubmission is a submission in a list.
type listedSubmission struct {
	ID              int64        `json:"id"`
	LeaderboardName string       `json:"leaderboard_name"`
	FileName        string       `json:"file_name"`
	SubmissionTime  time.Time    `json:"submission_time"`
	Done            bool         `json:"done"`
	Runs            []runSummary `json:"runs"`
}

type runSummary struct {
	GPUType string   `json:"gpu_type"`
	Score   *float64 `json:"score"` // seconds
}

// submissionDetails is one of the sender's submissions with all its data.
type submissionDetails struct {
	ID              int64            `json:"id"`
	LeaderboardID   int64            `json:"leaderboard_id"`
	LeaderboardName string           `json:"leaderboard_name"`
	FileName        string           `json:"file_name"`
	UserID          string           `json:"user_id"`
	SubmissionTime  time.Time        `json:"submission_time"`
	Done            bool             `json:"done"`
	Code            string           `json:"code"`
	Runs            []leaderboardRow `json:"runs"`
	Job             jobStatus        `json:"job"`
	Queue           *runnerQueue     `json:"runner_queue"`
}

// leaderboardRow is one stage of a run, in the list of a submission's runs.
type leaderboardRow struct {
	StartTime time.Time         `json:"start_time"`
	EndTime   time.Time         `json:"end_time"`
	Mode      string            `json:"mode"`
	Secret    bool              `json:"secret"`
	Runner    string            `json:"runner"` // the GPU
	Score     *float64          `json:"score"`  // seconds
	Passed    bool              `json:"passed"`
	Result    map[string]string `json:"result"`
}

// jobStatus is the state of a whole submission.
type jobStatus struct {
	Status string  `json:"status"` // "pending", "running", "succeeded", "failed", "timed_out", "hacked"
	Error  *string `json:"error"`  // reason if it did not succeed
}

// statusEvent is a status event in the stream of a submission.
type statusEvent struct {
	Status  string  `json:"status"`
	Elapsed float64 `json:"elapsed_time"` // seconds
	Message string  `json:"message"`      // text that popcorn-cli prints
}

// resultEvent is the last event in the stream of an ended submission.
type resultEvent struct {
	Status  string       `json:"status"`
	Results []fullResult `json:"results"` // one for each GPU
	Reports []string     `json:"reports"`
}

// failureEvent is the last event of a stream that ends before its submission.
type failureEvent struct {
	Status     string  `json:"status"`
	Detail     string  `json:"detail"`
	StatusCode int     `json:"status_code"`
	RawError   *string `json:"raw_error"`
}

type fullResult struct {
	// false only after an infrastructure error: a failed submission is a successful job
	Success bool                  `json:"success"`
	Error   string                `json:"error"`
	System  systemInfo            `json:"system"`
	Runs    map[string]evalResult `json:"runs"` // by stage: "test", "benchmark", "leaderboard", "profile.0"
}

type systemInfo struct {
	GPU         string `json:"gpu"`
	DeviceCount int    `json:"device_count"`
	Runtime     string `json:"runtime"`
	Torch       string `json:"torch"`
	Hostname    string `json:"hostname"`
}

type evalResult struct {
	Start       time.Time      `json:"start"`
	End         time.Time      `json:"end"`
	Compilation *compileResult `json:"compilation"`
	Run         *runResult     `json:"run"`
	Profile     *profileResult `json:"profile"`
}

type compileResult struct {
	NVCCFound bool   `json:"nvcc_found"`
	Version   string `json:"nvcc_version"`
	Success   bool   `json:"success"`
	Command   string `json:"command"`
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	ExitCode  int    `json:"exit_code"`
}

type runResult struct {
	Success  bool           `json:"success"` // the program ran to its end, with a right or a wrong answer
	Passed   bool           `json:"passed"`
	Command  string         `json:"command"`
	Stdout   string         `json:"stdout"`
	Stderr   string         `json:"stderr"`
	ExitCode int            `json:"exit_code"`
	Duration float64        `json:"duration"` // seconds
	Result   map[string]any `json:"result"`
}

type profileResult struct {
	Profiler    string `json:"profiler"`
	Trace       []byte `json:"trace"` // a zip, in base64; null if there is none
	DownloadURL string `json:"download_url"`
}
