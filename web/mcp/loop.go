package mcp

import (
	"context"
	"fmt"
	"time"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
)

// maxSubmissionWait limits how long one request waits for the end of a submission. It is also the interval of progress
// messages.
const maxSubmissionWait = 10 * time.Second

type kernelIn struct {
	Task     string   `json:"task" jsonschema:"slug of the task"`
	Source   string   `json:"source" jsonschema:"the kernel's whole source, with the signature of the task's template"`
	FileName string   `json:"file_name" jsonschema:"name of the source file, as in the template"`
	Devices  []string `json:"devices,omitempty" jsonschema:"devices to run on; default: the task's only one"`
	extraFilesIn
}

type ownSubmissionsIn struct {
	Task   string `json:"task,omitempty" jsonschema:"only submissions to this task"`
	Before int64  `json:"before,omitempty" jsonschema:"next from the previous answer, for older submissions"`
}

type profileIn struct {
	ID     int64  `json:"id" jsonschema:"id of the submission"`
	Device string `json:"device,omitempty" jsonschema:"device of the run; default: the first with a profile"`
	Case   int    `json:"case,omitempty" jsonschema:"number of the benchmark case, from 0"`
}

// submissionOut is a submission in the short form of tool results.
type submissionOut struct {
	ID    int64    `json:"id"`
	URL   string   `json:"url"`
	Task  string   `json:"task"`
	Mode  job.Mode `json:"mode"`
	Ended bool     `json:"ended" jsonschema:"every run has ended; if not, call wait_submission"`
	Runs  []runOut `json:"runs"`
	Next  string   `json:"next,omitempty" jsonschema:"what to do now"`
}

// runOut is a run in the short form of tool results. It has no ID, because tools identify runs by submission and
// device.
type runOut struct {
	Device   string   `json:"device"`
	State    string   `json:"state"`
	Position int      `json:"position,omitempty" jsonschema:"in the queue, from 1"`
	ScoreNS  *float64 `json:"score_ns,omitempty" jsonschema:"the time that counts, in nanoseconds; lower is better"`
	Low      *float64 `json:"interval_low,omitempty"`
	High     *float64 `json:"interval_high,omitempty"`
	Failure  string   `json:"failure,omitempty" jsonschema:"why it did not pass"`
	Output   string   `json:"output,omitempty" jsonschema:"of the compiler or the program, if it did not pass"`
	Findings []string `json:"findings,omitempty" jsonschema:"of compute-sanitizer, a line each"`
	Profile  string   `json:"profile,omitempty" jsonschema:"address of its profile; read_profile has it as text"`
}

// maxOutputBytes limits the output of compilers and programs in tool results, in bytes. The end of the output is kept.
const maxOutputBytes = 4000

func shortSubmission(s *client.Submission) submissionOut {
	out := submissionOut{ID: s.ID, URL: s.URL, Task: s.Task, Mode: s.Mode, Ended: s.Ended, Runs: []runOut{}}
	for _, r := range s.Runs {
		one := runOut{
			Device: r.Device, State: r.State, Position: r.QueuePosition, ScoreNS: r.ScoreNS,
			Low: r.IntervalLow, High: r.IntervalHigh, Profile: r.Profile,
		}
		for _, stage := range r.Stages {
			for _, f := range stage.Findings {
				one.Findings = append(one.Findings, f.Tool+": "+f.Sentence())
			}
		}
		if r.Failure != nil {
			one.Failure = r.Failure.Reason
			if len(r.Stages) > 0 {
				last := r.Stages[len(r.Stages)-1]
				text := last.Stdout + last.Stderr
				one.Output = text[max(0, len(text)-maxOutputBytes):]
			}
		}
		out.Runs = append(out.Runs, one)
	}
	return out
}

func (t toolHandlers) addSubmissionTools(server toolServer) {
	addTypedTool(server, "test_kernel", "Compile a kernel and run a task's test cases. Do this until it passes, then call rank_kernel.", createAnnotations(), t.submitAndWait(job.ModeTest))
	addTypedTool(server, "rank_kernel", "Test, measure, and rank a kernel: the score counts on the task's board. Then call get_board.", createAnnotations(), t.submitAndWait(job.ModeRanked))
	addTypedTool(server, "wait_submission", "Wait for a submission, and read how its runs ended. Call it again while ended is false.", readingAnnotations(), t.wait)
	addTypedTool(server, "cancel_submission", "Cancel the runs of one of your submissions that have not ended.", endingAnnotations(),
		func(ctx context.Context, _ *progressReporter, in submissionIn) (submissionOut, error) {
			sub, err := dereference(t.site.Cancel(ctx, in.ID))
			return shortSubmission(&sub), err
		})
	addTypedTool(server, "my_submissions", "List your submissions and their scores, newest first.", readingAnnotations(), t.ownSubmissions)
	addTypedTool(server, "get_source", "Read the source of a submission: your own, or anyone's after the task's deadline.", readingAnnotations(),
		func(ctx context.Context, _ *progressReporter, in submissionIn) (client.SourceFile, error) {
			return dereference(t.site.SubmissionSource(ctx, in.ID))
		})
	addTypedTool(server, "read_profile", "Read the Nsight Compute profile of a GPU run as text: what bounds each kernel, findings, hottest instructions.", readingAnnotations(), t.profile)
	addTypedTool(server, "compare_runs", "Compare the runs of two submissions on one device: scores, and times case by case. The answer names their authors.", readingAnnotations(), t.compareRuns)
	addTypedTool(server, "compare_with_record", "Compare the 1st place of a board with one of your submissions: both scores, and the diff of the sources. Others' sources are public after the task's deadline.", readingAnnotations(), t.diffWithRecord)
}

// submitAndWait returns a tool that submits a kernel in a mode and waits for the result, at most maxCallWait.
func (t toolHandlers) submitAndWait(
	mode job.Mode,
) func(context.Context, *progressReporter, kernelIn) (submissionOut, error) {
	return func(ctx context.Context, p *progressReporter, in kernelIn) (submissionOut, error) {
		sub, err := t.site.Submit(ctx, client.NewSubmission{
			Task: in.Task, Devices: in.Devices, Mode: mode, FileName: in.FileName, Source: in.Source,
			Files: in.Files,
		})
		if err != nil {
			return submissionOut{}, err
		}
		return t.wait(ctx, p, submissionIn{ID: sub.ID})
	}
}

// maxCallWait limits the wait in one tool call. Common clients abandon a call after 30 s or 60 s.
const maxCallWait = 25 * time.Second

func (t toolHandlers) wait(ctx context.Context, p *progressReporter, in submissionIn) (submissionOut, error) {
	sub, err := t.site.Submission(ctx, in.ID)
	for err == nil && !sub.Ended {
		left := min(maxCallWait, t.maxWait) - p.elapsed()
		if left < time.Second {
			break
		}
		p.report(ctx, fmt.Sprintf("submission %d: %s", sub.ID, runStatesText(sub)))
		sub, err = t.site.Wait(ctx, in.ID, min(left, maxSubmissionWait))
	}
	if err != nil {
		return submissionOut{}, err
	}
	out := shortSubmission(sub)
	if !out.Ended {
		out.Next = fmt.Sprintf("It continues. Call wait_submission with id %d.", sub.ID)
	}
	return out, nil
}

func runStatesText(sub *client.Submission) (text string) {
	for _, run := range sub.Runs {
		text += run.Device + " " + run.State + " "
	}
	return text
}

type ownSubmissionsOut struct {
	Submissions []submissionOut `json:"submissions"`
	Next        int64           `json:"next,omitempty" jsonschema:"send it as before, for older ones"`
}

func (t toolHandlers) ownSubmissions(
	ctx context.Context, _ *progressReporter, in ownSubmissionsIn,
) (out ownSubmissionsOut, err error) {
	list, err := t.site.OwnSubmissions(ctx, in.Task, in.Before, 20)
	if err != nil {
		return out, err
	}
	out = ownSubmissionsOut{Submissions: []submissionOut{}, Next: list.NextBefore}
	for _, sub := range list.Submissions {
		out.Submissions = append(out.Submissions, shortSubmission(&sub))
	}
	return out, nil
}

type profileOut struct {
	Text string `json:"text"`
	URL  string `json:"url" jsonschema:"the same as a page"`
}

func (t toolHandlers) profile(ctx context.Context, _ *progressReporter, in profileIn) (out profileOut, err error) {
	sub, err := t.site.Submission(ctx, in.ID)
	if err != nil {
		return out, err
	}
	for _, run := range sub.Runs {
		if in.Device != "" && run.Device != in.Device || in.Device == "" && run.Profile == "" {
			continue
		}
		text, err := t.site.Download(ctx, client.ProfilePath(in.ID, run.ID, "txt", in.Case))
		return profileOut{string(text), run.Profile}, err
	}
	return out, noProfileError{in.ID}
}

// noProfileError is the error for a submission that has no profile.
type noProfileError struct{ submissionID int64 }

func (n noProfileError) Error() string {
	return fmt.Sprintf("no run of submission %d has a profile: ranked runs on a GPU get one, after the run, and so do submissions of mode profile", n.submissionID)
}
