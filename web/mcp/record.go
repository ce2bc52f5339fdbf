package mcp

import (
	"context"
	"fmt"

	"warpboard/clients/go"
	"warpboard/views/format"
)

type recordIn struct {
	ID     int64  `json:"id" jsonschema:"id of one of your submissions"`
	Device string `json:"device,omitempty" jsonschema:"device of the run; default: the only one"`
}

type recordOut struct {
	Record   int64    `json:"record" jsonschema:"id of the submission in 1st place"`
	User     string   `json:"user" jsonschema:"person who made it"`
	RecordNS float64  `json:"record_ns" jsonschema:"its score, in nanoseconds"`
	OwnNS    *float64 `json:"mine_ns,omitempty" jsonschema:"your score; absent: your submission has none"`
	Diff     string   `json:"diff" jsonschema:"from your source to the record's, as a unified diff; empty: they are the same"`
}

// diffWithRecord returns the diff between a submission and the board's 1st place. Before the task's deadline the site
// refuses to show the source of the 1st place.
func (t toolHandlers) diffWithRecord(ctx context.Context, _ *progressReporter, in recordIn) (out recordOut, err error) {
	mine, err := t.site.Submission(ctx, in.ID)
	if err != nil {
		return out, err
	}
	run, err := runOnDevice(mine, in.Device)
	if err != nil {
		return out, err
	}
	board, err := t.site.Board(ctx, mine.Task, run.Device, 1)
	if err != nil {
		return out, err
	}
	if len(board.Entries) == 0 {
		return out, fmt.Errorf("the board of %s on %s has no entries yet", mine.Task, run.Device)
	}
	first := board.Entries[0]
	out = recordOut{Record: first.SubmissionID, User: first.User.Name, RecordNS: first.ScoreNS, OwnNS: run.ScoreNS}
	theirs, err := t.site.SubmissionSource(ctx, first.SubmissionID)
	if err != nil {
		return out, err
	}
	own, err := t.site.SubmissionSource(ctx, in.ID)
	if err != nil {
		return out, err
	}
	out.Diff = submissionDiff(fmt.Sprintf("submission %d", in.ID), *own, fmt.Sprintf("submission %d", first.SubmissionID), *theirs)
	return out, nil
}

// submissionDiff returns the diff of two submissions, file by file.
func submissionDiff(nameA string, a client.SourceFile, nameB string, b client.SourceFile) string {
	var all format.TextComparer
	text := all.Unified(nameA, a.Text, nameB, b.Text)
	for _, name := range a.Submission().NamesOfBoth(b.Submission()) {
		text += all.Unified(nameA+" "+name, a.Files[name], nameB+" "+name, b.Files[name])
	}
	return text
}
