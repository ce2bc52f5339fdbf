package outcome

import (
	"encoding/json"
	"strings"
	"testing"

	"warpboard/clients/go"
)

func TestAMessageSaysWhatTheStripOfTheRunSays(t *testing.T) {
	score := 4500.0
	run := client.EndedRun{Run: 78, URL: "https://a.example/runs/78", Submission: 57, Task: "matmul", Device: "H100",
		Mode: "ranked", State: "done", ScoreNS: &score,
		User: client.User{ID: 3, Name: "Ada"},
		Outcome: &client.Outcome{Rank: 1, IsEntry: true, IsRecord: true, BestRun: 9, BestSubmission: 54, BestNS: 9000,
			BestRank: 3}}
	failed := client.EndedRun{URL: "https://a.example/runs/79", Submission: 58, Task: "matmul", Device: "H100",
		Mode: "test", State: "failed", User: run.User}
	for _, c := range []struct {
		kind   string
		data   any
		reader int64
		want   string
	}{
		{"run.ended", run, 3,
			"#57 by Ada, matmul on H100: 4.500 µs. Record. 3rd → 1st on H100. 2.00× faster than your previous best (#54)\nhttps://a.example/runs/78"},
		{"run.ended", run, 0,
			"#57 by Ada, matmul on H100: 4.500 µs. Record. 3rd → 1st on H100. 2.00× faster than their previous best (#54)\nhttps://a.example/runs/78"},
		{"run.ended", failed, 3, "#58 by Ada, matmul on H100: test failed\nhttps://a.example/runs/79"},
		{"worker.lost", map[string]any{"worker": "rack-7"}, 0, "Worker rack-7 sends no heartbeats."},
		{"wait.long", map[string]any{"device": "H100", "waiting": 3, "oldest_since": "2026-11-25T10:00:00Z"},
			0, "3 jobs wait for H100, since 25 Nov 2026, 10:00 UTC."},
		{"comment.added", client.Notice{Text: "Ben commented on Sort.", URL: "https://a.example/tasks/sort/comments"},
			3, "Ben commented on Sort.\nhttps://a.example/tasks/sort/comments"},
		{"test", map[string]any{}, 0, "A test of this webhook."},
	} {
		data, err := json.Marshal(c.data)
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(client.WebhookMessage{Type: c.kind, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		got, err := WebhookMessageText(body, c.reader)
		if got = strings.ReplaceAll(got, "\u00a0", " "); err != nil || got != c.want {
			t.Errorf("%s says %q, %v; want %q", c.kind, got, err, c.want)
		}
	}
}
