package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
)

func main() {
	if err := check(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "oapi-codegen:", err)
		os.Exit(1)
	}
}

func check(ctx context.Context) error {
	task := os.Getenv("TASK")
	site, err := NewClientWithResponses(os.Getenv("SITE"), WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}))
	if err != nil {
		return err
	}
	read, err := site.GetTasksBySlugWithResponse(ctx, task)
	if err != nil || read.JSON200 == nil || read.JSON200.Version < 1 {
		return fmt.Errorf("read the task: %v %v", read, err)
	}
	source, err := os.ReadFile(os.Getenv("SOURCE"))
	if err != nil {
		return err
	}
	key, mode, devices := "apicheck-"+os.Getenv("TOKEN")[:8], NewSubmissionMode("ranked"), []string{"CPU"}
	made, err := site.PostSubmissionsWithResponse(ctx, &PostSubmissionsParams{IdempotencyKey: &key},
		NewSubmission{Task: &task, Devices: &devices, Mode: &mode, FileName: "kernel.cpp", Source: string(source)})
	if err != nil || made.JSON201 == nil {
		return fmt.Errorf("submit: %s %v", made.Body, err)
	}
	id, seconds := made.JSON201.Id, int64(25)
	for ended := false; !ended; {
		now, err := site.GetSubmissionsByIdWithResponse(ctx, id, &GetSubmissionsByIdParams{Wait: &seconds})
		if err != nil || now.JSON200 == nil {
			return fmt.Errorf("wait: %s %v", now.Body, err)
		}
		if ended = now.JSON200.Ended; ended && now.JSON200.Runs[0].ScoreNs == nil {
			return fmt.Errorf("the run has no score: %s", now.Body)
		}
	}
	board, err := site.GetBoardsBySlugByDeviceWithResponse(ctx, task, "CPU", nil)
	if err != nil || board.JSON200 == nil || len(board.JSON200.Entries) == 0 {
		return fmt.Errorf("read the board: %v", err)
	}
	// The generated type of a score must be float64: otherwise this comparison does not compile.
	if score := float64(board.JSON200.Entries[0].ScoreNs); score != board.JSON200.Entries[0].ScoreNs || score <= 0 {
		return fmt.Errorf("the first of the board has %v ns", score)
	}
	refused, err := site.GetSubmissionsByIdWithResponse(ctx, 999999, nil)
	if err != nil || refused.ApplicationproblemJSON4XX == nil || refused.ApplicationproblemJSON4XX.Code != "not_found" {
		return fmt.Errorf("a submission that is not there: %s %v", refused.Body, err)
	}
	fmt.Printf("oapi-codegen: a typed client submitted, waited, and read a board of %d\n", board.JSON200.Total)
	return nil
}
