package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
)

type taskIn struct {
	Task string `json:"task" jsonschema:"slug of the task, from list_tasks"`
}

type submitIn struct {
	Task     string     `json:"task" jsonschema:"slug of the task"`
	Source   string     `json:"source" jsonschema:"the kernel's source"`
	FileName string     `json:"file_name" jsonschema:"name of the source file, with the suffix of the task's language"`
	Devices  []string   `json:"devices,omitempty" jsonschema:"devices to run on; default: the task's only one"`
	Mode     string     `json:"mode,omitempty" jsonschema:"test, benchmark, ranked, profile or sanitize; default test"`
	Filter   jsonObject `json:"profile_filter,omitempty" jsonschema:"for mode profile: benchmark, kernel (name or regex:PATTERN), launch_skip, launch_count, sections"`
	extraFilesIn
}

// extraFilesIn has the additional files of a submission.
type extraFilesIn struct {
	Files map[string]string `json:"files,omitempty" jsonschema:"further files that the task's submission_files allow: their texts by name"`
}

type submissionIn struct {
	ID int64 `json:"id" jsonschema:"id of the submission"`
}

type boardIn struct {
	Task   string `json:"task" jsonschema:"slug of the task"`
	Device string `json:"device" jsonschema:"device of the board, such as H200 or CPU"`
	Page   int    `json:"page,omitempty" jsonschema:"page, from 1"`
}

type tasksOut struct {
	Tasks []client.TaskSummary `json:"tasks"`
}

func (t toolHandlers) addBoardTools(server toolServer) {
	addTypedTool(server, "list_tasks", "List the tasks of this site with their languages and devices.", readingAnnotations(), func(ctx context.Context, _ *progressReporter, _ noInput) (tasksOut, error) {
		tasks, err := t.site.Tasks(ctx)
		return tasksOut{tasks}, err
	})
	addTypedTool(server, "get_task", "Read a task: description, test and benchmark cases, limits, templates.", readingAnnotations(), func(ctx context.Context, _ *progressReporter, in taskIn) (client.Task, error) {
		return dereference(t.site.Task(ctx, in.Task))
	})
	addTypedTool(server, "submit", "Submit a kernel to a task. Follow it with get_submission. Only mode ranked puts it on the board.", createAnnotations(), t.submit)
	addTypedTool(server, "get_submission", "Read a submission: the state of its runs, their stages, errors and scores.", readingAnnotations(), func(ctx context.Context, _ *progressReporter, in submissionIn) (client.Submission, error) {
		return dereference(t.site.Submission(ctx, in.ID))
	})
	addTypedTool(server, "get_board", "Read the ranking of a task on a device.", readingAnnotations(), func(ctx context.Context, _ *progressReporter, in boardIn) (client.Board, error) {
		return dereference(t.site.Board(ctx, in.Task, in.Device, max(in.Page, 1)))
	})
}

func (t toolHandlers) submit(ctx context.Context, _ *progressReporter, in submitIn) (client.Submission, error) {
	filter, err := readProfileFilter(in.Filter)
	if err != nil {
		return client.Submission{}, err
	}
	return dereference(t.site.Submit(ctx, client.NewSubmission{
		Task: in.Task, Devices: in.Devices, Mode: job.Mode(in.Mode), ProfileFilter: filter, FileName: in.FileName, Source: in.Source, Files: in.Files,
	}))
}

// readProfileFilter reads a profile filter. Arguments have no schema for it, because the schema would make the list of
// tools too long.
func readProfileFilter(given jsonObject) (*job.ProfileFilter, error) {
	if given == nil {
		return nil, nil
	}
	text, err := json.Marshal(given)
	if err != nil {
		return nil, fmt.Errorf("writing profile_filter: %w", err)
	}
	var filter job.ProfileFilter
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&filter); err != nil {
		return nil, fmt.Errorf("submit: the argument \"profile_filter\" has benchmark, kernel, kernel_name_base, launch_skip, launch_count and sections: %w", err)
	}
	return &filter, nil
}

// dereference returns the value that answer points to, or err.
func dereference[T any](answer *T, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return *answer, nil
}
