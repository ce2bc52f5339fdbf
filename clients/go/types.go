package client

import (
	"fmt"
	"time"

	"warpboard/evaluator/job"
	"warpboard/internal/requirement"
	"warpboard/tasks"
)

// TaskSummary is a task in a list.
type TaskSummary struct {
	Slug     string     `json:"slug"`
	Title    string     `json:"title"`
	Lang     tasks.Lang `json:"lang"`
	Tags     []string   `json:"tags,omitempty" jsonschema:"by which people find the task: 'reduction', 'beginner' …"`
	Problem  string     `json:"problem,omitempty" jsonschema:"the same for this task in other languages"`
	Devices  []string   `json:"devices"`
	Deadline *time.Time `json:"deadline,omitempty" jsonschema:"last moment for submissions; absent: none"`
}

// TaskLimit limits the submissions of a person to a task per hour or per day; 0 means no limit.
type TaskLimit struct {
	Mode            job.Mode   `json:"mode,omitempty" jsonschema:"absent: all modes together"`
	Period          string     `json:"per" jsonschema:"hour or day"`
	Submissions     int        `json:"submissions,omitempty"`
	GPUSeconds      int        `json:"gpu_seconds,omitempty"`
	LeftSubmissions int        `json:"left_submissions"`
	LeftGPUSeconds  int        `json:"left_gpu_seconds"`
	FreeAt          *time.Time `json:"free,omitempty" jsonschema:"used up until then"`
}

// Task has what submitters need to know about a task.
type Task struct {
	TaskSummary
	Version     int                   `json:"version" jsonschema:"the current one; boards belong to it"`
	Description string                `json:"description" jsonschema:"Markdown"`
	RankingBy   tasks.Ranking         `json:"ranking_by"`
	Tests       []tasks.Case          `json:"tests" jsonschema:"cases; the key devices is not an argument: it names the devices that run the case"`
	Benchmarks  []tasks.Case          `json:"benchmarks" jsonschema:"likewise"`
	TimeoutsNS  map[job.Stage]int64   `json:"timeouts_ns"`
	Templates   map[string]SourceFile `json:"templates,omitempty" jsonschema:"by label: 'C++', 'CUDA', 'Python' …"`
	// SubmissionFiles are the names, and patterns with *, of additional files that a submission may have.
	SubmissionFiles []string         `json:"submission_files,omitempty" jsonschema:"names, and patterns with *, of further files of a submission; absent: none"`
	Require         requirement.List `json:"require,omitempty" jsonschema:"Python packages that a worker must have"`
	SanitizeFirst   bool             `json:"sanitize_first,omitempty" jsonschema:"a GPU ranks only what a sanitize run found clean"`
	// Library is "refuse" if kernels of libraries are refused, as in task.yml.
	Library string `json:"library,omitempty"`
	// Limits apply to the caller; admins have none.
	Limits []TaskLimit `json:"limits,omitempty" jsonschema:"the caller's limits, and what is left; absent: none"`
}

// Draw has the values that the site generated for the ranges in the cases of a task. They are the same for all ranked
// runs of a version on a device with the same software.
type Draw struct {
	Version     int          `json:"version"`
	Device      string       `json:"device"`
	Epoch       string       `json:"epoch" jsonschema:"its software; empty: unknown"`
	DrawnAt     time.Time    `json:"drawn"`
	CasesSecret bool         `json:"secret" jsonschema:"its scores still count, so the cases are absent"`
	Tests       []tasks.Case `json:"tests,omitempty"`
	Benchmarks  []tasks.Case `json:"benchmarks,omitempty"`
}

// SourceFile is one file with its text.
type SourceFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
	// Files are additional files of a submission, by name.
	Files map[string]string `json:"files,omitempty" jsonschema:"a submission's further files: their texts by name"`
}

// Submission converts the file to the type of package tasks.
func (f SourceFile) Submission() tasks.Submission { return tasks.SubmissionFromTexts(f.Text, f.Files) }

// NewSubmission is the request body of Submit. Directives in the source can set Task and Devices instead (#!POPCORN
// leaderboard NAME, #!POPCORN gpus A B; //!POPCORN … in C++ and CUDA).
type NewSubmission struct {
	Task     string   `json:"task,omitempty"`
	Devices  []string `json:"devices,omitempty"`
	Mode     job.Mode `json:"mode,omitempty" jsonschema:"test, benchmark, ranked, profile or sanitize; absent: test"`
	FileName string   `json:"file_name"`
	Source   string   `json:"source"`
	// Files are the texts of additional files by name, if the task allows them.
	Files         map[string]string  `json:"files,omitempty" jsonschema:"further files, if the task's submission_files allow them: their texts by name"`
	ProfileFilter *job.ProfileFilter `json:"profile_filter,omitempty" jsonschema:"with mode profile: what to profile; absent: everything"`
	// OnBehalfOf is the name of a person for whom an admin adds the submission, even after the deadline; AddedReason is
	// public.
	OnBehalfOf  string `json:"for,omitempty" jsonschema:"for admins: name of the person to add it for, even after the deadline"`
	AddedReason string `json:"why,omitempty" jsonschema:"with for: the public reason; at most 280 characters"`
}

// User identifies a person.
type User struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Role string `json:"role,omitempty" jsonschema:"only about oneself"`
	// Budget is set only for the account of the caller, and only if its use of GPUs is limited.
	Budget *Budget `json:"budget,omitempty" jsonschema:"only for yourself, if your use of GPUs is limited"`
	// TeamBudget is the budget of the team of the caller; nil without a team or a limit.
	TeamBudget *TeamBudget `json:"team_budget,omitempty" jsonschema:"only for yourself, if your team's use of GPUs is limited; a submission needs something left of both"`
}

// Budget limits how long the runs and evaluations of a person may use GPUs per day, in GPU-seconds.
type Budget struct {
	Seconds     int       `json:"seconds" jsonschema:"GPU-seconds a day"`
	UsedSeconds float64   `json:"used_seconds" jsonschema:"today, by runs that ended and were not cancelled"`
	LeftSeconds float64   `json:"left_seconds"`
	RenewsAt    time.Time `json:"renews" jsonschema:"midnight UTC"`
}

// TeamBudget limits how long the runs and evaluations of all members of a team may use GPUs per day, in GPU-seconds.
type TeamBudget struct {
	Team        string    `json:"team"`
	Members     int       `json:"members"`
	Seconds     int       `json:"seconds" jsonschema:"GPU-seconds a day"`
	UsedSeconds float64   `json:"used_seconds" jsonschema:"today, by its current members"`
	LeftSeconds float64   `json:"left_seconds"`
	RenewsAt    time.Time `json:"renews" jsonschema:"midnight UTC"`
}

// Submission is a submission with its runs, one per device.
type Submission struct {
	ID            int64              `json:"id"`
	URL           string             `json:"url"`
	Task          string             `json:"task" jsonschema:"slug of the task"`
	Version       int                `json:"version"`
	Mode          job.Mode           `json:"mode"`
	FileName      string             `json:"file_name"`
	User          User               `json:"user"`
	CreatedAt     time.Time          `json:"created"`
	ProfileFilter *job.ProfileFilter `json:"profile_filter,omitempty" jsonschema:"of mode profile; absent: all as usual"`
	AddedReason   string             `json:"added_why,omitempty" jsonschema:"an admin added it for the user, for this reason"`
	Ended         bool               `json:"ended" jsonschema:"every run has ended"`
	Runs          []Run              `json:"runs"`
}

// SubmissionList is one page of the caller's submissions, newest first. Their runs have no stages.
type SubmissionList struct {
	Submissions []Submission `json:"submissions"`
	NextBefore  int64        `json:"next,omitempty" jsonschema:"before for the next page; absent: this is the last page"`
}

// Run is the measurement of a submission on one device. Times are in nanoseconds.
type Run struct {
	ID                  int64      `json:"id"`
	Device              string     `json:"device"`
	State               string     `json:"state" jsonschema:"'queued', 'building' … 'done', 'failed'"`
	QueuePosition       int        `json:"position,omitempty" jsonschema:"in the queue, from 1"`
	WaitsFor            string     `json:"waits_for,omitempty" jsonschema:"required packages that no worker has: 'a worker that has triton>=3; …'"`
	ExpectedWaitSeconds int64      `json:"expected_wait_ns,omitempty" jsonschema:"expected wait, from past runs; absent: unknown"`
	Attempts            int        `json:"attempts"`
	QueuedAt            time.Time  `json:"queued"`
	StartedAt           *time.Time `json:"started,omitempty"`
	EndedAt             *time.Time `json:"ended,omitempty"`
	ScoreNS             *float64   `json:"score_ns,omitempty"`
	StdNS               float64    `json:"std_ns,omitempty"`
	ErrNS               float64    `json:"err_ns,omitempty"`
	Interval
	Numerics
	MemoryPeak            *int64       `json:"memory_peak,omitempty" jsonschema:"bytes that the ranked stage's processes had at most, with all that they started; absent: not measured, as on a GPU"`
	PooledRuns            int          `json:"pooled_runs,omitempty" jsonschema:"number of ranked runs of equal source whose processes give the score together, including this and cancelled, failed, or deleted runs; absent: only one run, or confirmations"`
	PoolRepresentativeRun int64        `json:"pool_run,omitempty" jsonschema:"run that represents all runs of this source on the board; absent: there are no others"`
	Clock                 string       `json:"clock,omitempty" jsonschema:"clock that counts for the score: event, wall or snapshot, joined by + if cases differ; each case has the numbers under clocks; absent: no judge measured the time"`
	Outcome               *Outcome     `json:"outcome,omitempty" jsonschema:"what a ranked run means on the board; absent: it is on no board"`
	Validation            *Validation  `json:"validation,omitempty" jsonschema:"result of the task's validation script, if the run is an entry; absent: the script did not run on it"`
	Profile               string       `json:"profile,omitempty" jsonschema:"address of what Nsight Compute measured, as a page; with .json, .csv, .ncu-rep or .ptx behind it as data; absent: it was not profiled"`
	Kernels               []job.Kernel `json:"kernels,omitempty" jsonschema:"kernels of the profile, all cases together, and where they come from by their names: evidence, not proof; absent: not known"`
	Libraries             string       `json:"refused_libraries,omitempty" jsonschema:"libraries of these kernels, if the task refuses them; no verdict"`
	Failure               *job.Failure `json:"failure,omitempty"`

	DisqualifiedAt        *time.Time `json:"disqualified,omitempty" jsonschema:"when the run was taken off its board; absent: it was not"`
	DisqualifiedReason    string     `json:"disqualified_why,omitempty"`
	DisturbanceReason     string     `json:"disturbed,omitempty" jsonschema:"why the conditions were bad under which the score was measured; absent: they were good, or are not known"`
	ContradictedByProfile bool       `json:"contradicted,omitempty" jsonschema:"a case took less time than its kernels take under Nsight Compute, and no reviewer has decided"`
	HoldReason            string     `json:"held_why,omitempty" jsonschema:"why it is not on a board yet: it waits for a review, or its event is frozen"`

	Harness string            `json:"harness,omitempty"`
	Machine *job.Machine      `json:"machine,omitempty"`
	Stages  []job.StageResult `json:"stages"`
}

// Interval is the confidence interval of a score, in nanoseconds.
type Interval struct {
	IntervalLow  *float64 `json:"interval_low,omitempty" jsonschema:"low end of the score's 95 % interval, in nanoseconds, from fresh processes; absent: there is no interval"`
	IntervalHigh *float64 `json:"interval_high,omitempty" jsonschema:"its high end"`
	Processes    int      `json:"processes,omitempty" jsonschema:"number of fresh processes that measured the score; absent: the task's own program measured it"`
	Noisy        bool     `json:"noisy,omitempty" jsonschema:"the processes differ too much for an interval of ± 0.5 %"`
}

// Numerics has the largest errors in the tests of a run, relative to a reference in double precision.
type Numerics struct {
	ErrorULP      *float64 `json:"error_ulp,omitempty" jsonschema:"largest error in units in the last place of the answer's type; rounding causes at most 0.5; absent: nothing was compared"`
	ErrorRelative *float64 `json:"error_relative,omitempty" jsonschema:"largest error relative to the reference's magnitude"`
}

// Event is one step of a run. IDs increase; Watch continues after an ID.
type Event struct {
	ID      int64        `json:"id"`
	RunID   int64        `json:"run_id"`
	Device  string       `json:"device"`
	Type    string       `json:"type"`
	State   string       `json:"state" jsonschema:"state of the run after the event"`
	Time    time.Time    `json:"time"`
	Detail  *job.Event   `json:"detail,omitempty" jsonschema:"the worker's event, without its secret"`
	Failure *job.Failure `json:"failure,omitempty"`
	ScoreNS *float64     `json:"score_ns,omitempty"`
}

// Board is the ranking of a task on a device.
type Board struct {
	Task    string  `json:"task"`
	Version int     `json:"version"`
	Device  string  `json:"device"`
	Change  int64   `json:"change" jsonschema:"increases whenever the board changes"`
	Epoch   string  `json:"epoch,omitempty" jsonschema:"software under the ranked scores: driver, CUDA, compiler, torch, Triton and harness, as far as it was recorded"`
	Total   int     `json:"total" jsonschema:"entries on all pages"`
	Page    int     `json:"page" jsonschema:"from 1"`
	Entries []Entry `json:"entries"`
}

// Entry is the best valid run of a person on a board. Times are in nanoseconds.
type Entry struct {
	AwaitsConfirmation bool    `json:"confirming,omitempty" jsonschema:"is in 1st place, and waits to be measured again, alternating with the next"`
	Rank               int     `json:"rank"`
	Tied               bool    `json:"tied,omitempty" jsonschema:"others share this rank: the data show no difference between them and the first of the band"`
	OlderSoftware      bool    `json:"older,omitempty" jsonschema:"measured with older software than the board's epoch: behind all others, and not compared with them until it is measured again"`
	User               User    `json:"user"`
	SubmissionID       int64   `json:"submission_id"`
	ScoreNS            float64 `json:"score_ns"`
	StdNS              float64 `json:"std_ns"`
	ErrNS              float64 `json:"err_ns"`
	Interval
	PooledRuns            int      `json:"pooled_runs,omitempty" jsonschema:"number of ranked runs of equal source whose processes give the score together, including cancelled, failed, or deleted runs; absent: only one run, or confirmations"`
	DisturbanceReason     string   `json:"disturbed,omitempty" jsonschema:"why the conditions were bad under which the score was measured; absent: they were good, or are not known"`
	ContradictedByProfile bool     `json:"contradicted,omitempty" jsonschema:"a case took less time than its kernels take under Nsight Compute, and no reviewer has decided"`
	RooflineShare         *float64 `json:"roof,omitempty" jsonschema:"how close the score is to the device's measured limit, from 0 to 1; absent: the task does not state the work of a call, or the device was not measured"`
	Numerics
	MemoryPeak *int64    `json:"memory_peak,omitempty" jsonschema:"bytes that the ranked stage's processes had at most, with all that they started; absent: not measured, as on a GPU"`
	Clock      string    `json:"clock,omitempty" jsonschema:"clock that counts for the score: event, wall or snapshot, joined by + if cases differ; absent: no judge measured the time"`
	AchievedAt time.Time `json:"achieved"`
	// Validation is the result of the task's validation script.
	Validation *Validation `json:"validation,omitempty" jsonschema:"result of the task's validation script; absent: it did not run on this entry"`
}

// Device is a kind of hardware, with its workers and its queue.
type Device struct {
	Device          string `json:"device"`
	Slots           int    `json:"slots" jsonschema:"that take jobs now"`
	Busy            int    `json:"busy"`
	Queued          int    `json:"queued"`
	Running         int    `json:"running"`
	AheadOfNewCount int    `json:"ahead" jsonschema:"work that waits and starts before a new run"`
	BehindNewCount  int    `json:"behind" jsonschema:"work that waits and starts after a new run: later runs of one person, profiles, baselines, and reruns"`
	// PausedBy is the person who paused the device; no run starts on a paused device.
	PausedBy    string     `json:"paused_by,omitempty" jsonschema:"admin who paused its queue"`
	PausedSince *time.Time `json:"paused_since,omitempty"`
	PauseReason string     `json:"paused_why,omitempty" jsonschema:"that admin's message to visitors"`
	// OutOfService is the number of slots that must be repaired; if the device has no other slots, its runs wait for
	// the repair.
	OutOfService int                    `json:"out_of_service" jsonschema:"slots of live workers that take no jobs"`
	Packages     []requirement.Packages `json:"packages,omitempty" jsonschema:"only on request: Python packages of each live worker that takes jobs for the device, versions by name"`
	Sanitizer    bool                   `json:"sanitizer,omitempty" jsonschema:"a worker has compute-sanitizer, for mode sanitize"`
	Problem      string                 `json:"problem,omitempty" jsonschema:"why a slot takes no jobs, and what happens next; admins also get the machine's message"`
}

// Problem is the response of the API to a request that failed (RFC 9457), and the error that a Client returns.
type Problem struct {
	Type       string        `json:"type"`
	Title      string        `json:"title"`
	Status     int           `json:"status"`
	Code       string        `json:"code" jsonschema:"stable, for programs: 'deadline_passed'"`
	Detail     string        `json:"detail" jsonschema:"a sentence for a person"`
	RequestID  string        `json:"request_id,omitempty"`
	Errors     []FieldError  `json:"errors,omitempty" jsonschema:"every field of a request that is wrong"`
	RetryAfter time.Duration `json:"-"` // pause before the next request; 0 if the response has none
}

// FieldError is the error of one field of a request.
type FieldError struct {
	Field   string `json:"field" jsonschema:"path to the value, joined by ' -> '"`
	Message string `json:"message"`
	Type    string `json:"type" jsonschema:"stable, for programs: 'missing'"`
	Hint    string `json:"hint,omitempty" jsonschema:"what to write instead"`
}

func (p *Problem) Error() string {
	if p.Detail == "" {
		return fmt.Sprintf("the site answered %d", p.Status)
	}
	return p.Detail
}
