package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"warpboard/evaluator/job"
	"warpboard/web/client"
)

type taskIn struct {
	Task string `json:"task" jsonschema:"slug of the task, from list_tasks"`
}

type submitIn struct {
	Task     string   `json:"task" jsonschema:"slug of the task"`
	Source   string   `json:"source" jsonschema:"the kernel's source"`
	FileName string   `json:"file_name" jsonschema:"name of the source file, with the suffix of the task's language"`
	Devices  []string `json:"devices,omitempty" jsonschema:"devices to run on; default: the task's only one"`
	Mode     string   `json:"mode,omitempty" jsonschema:"test, benchmark, ranked or profile; default test"`
}

type submissionIn struct {
	ID int64 `json:"id" jsonschema:"id of the submission"`
}

type boardIn struct {
	Task   string `json:"task" jsonschema:"slug of the task"`
	Device string `json:"device" jsonschema:"device of the board, such as H200 or CPU"`
	Page   int    `json:"page,omitempty" jsonschema:"page, from 1"`
}

func (t tools) addBoards(server *sdk.Server) {
	add(server, "list_tasks", "List the tasks of this site with their languages and devices.", true, func(ctx context.Context, _ nothing) (any, error) {
		tasks, err := t.site.Tasks(ctx)
		return object{"tasks": tasks}, err
	})
	add(server, "get_task", "Read a task: description, test and benchmark cases, limits, templates.", true, func(ctx context.Context, in taskIn) (any, error) {
		return t.site.Task(ctx, in.Task)
	})
	add(server, "submit", "Submit a kernel to a task. Follow it with get_submission. Mode ranked gives it a place on the board.", false, t.submit)
	add(server, "get_submission", "Read a submission: the state of its runs, their stages, errors and scores.", true, func(ctx context.Context, in submissionIn) (any, error) {
		return t.site.Get(ctx, in.ID)
	})
	add(server, "get_board", "Read the ranking of a task on a device.", true, func(ctx context.Context, in boardIn) (any, error) {
		return t.site.Board(ctx, in.Task, in.Device, max(in.Page, 1))
	})
}

func (t tools) submit(ctx context.Context, in submitIn) (any, error) {
	return t.site.Submit(ctx, client.NewSubmission{
		Task: in.Task, Devices: in.Devices, Mode: job.Mode(in.Mode), FileName: in.FileName, Source: in.Source,
	})
}
