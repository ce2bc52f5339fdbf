package evaluator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
)

const (
	// envelope is what a message needs beside its JSON.
	envelope = 4 << 10
	// absurdText bounds any one text; no stage of a worker that is in order leaves so much.
	absurdText = 1 << 20
	// largestText and smallestText bound the texts of a result that does not fit.
	largestText, smallestText = 64 << 10, 64
)

// fit makes sure that a result can be sent as one message of at most size bytes. What goes first
// can be missed best: artifacts, single times, and then ever more of the texts. Every cut is noted
// where it was made; what decides the score stays.
func fit(r *job.Result, size int) {
	fits := func() bool {
		data, err := json.Marshal(r)
		return err == nil && len(data)+envelope <= size
	}
	// Stages and cases may be shared with events that are still on their way.
	r.Stages = slices.Clone(r.Stages)
	for i := range r.Stages {
		r.Stages[i].Cases = slices.Clone(r.Stages[i].Cases)
	}
	shorten(r, absurdText)
	if fits() {
		return
	}
	r.Evaluation = slimEvaluation(r.Evaluation)
	if fits() {
		return
	}
	for _, i := range leastMissed(r.Artifacts) {
		leaveOut(r, i)
		if fits() {
			return
		}
	}
	for i := range r.Stages {
		for k := range r.Stages[i].Cases {
			r.Stages[i].Cases[k].Times = nil
		}
	}
	for limit := largestText; limit >= smallestText && !fits(); limit /= 2 {
		shorten(r, limit)
	}
}

// leastMissed orders the artifacts that have a content by how little they are missed: reports for the
// desktop tool before what the site draws its charts from, and large ones before small ones.
func leastMissed(artifacts []job.Artifact) []int {
	var order []int
	for i, a := range artifacts {
		if a.Data != nil {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, k int) int {
		a, b := artifacts[i], artifacts[k]
		if drawn := strings.HasSuffix(a.Name, ".json.gz"); drawn != strings.HasSuffix(b.Name, ".json.gz") {
			if drawn {
				return 1
			}
			return -1
		}
		return cmp.Compare(b.Size, a.Size)
	})
	return order
}

// leaveOut drops the content of an artifact and says so in the stage that made it, the last one.
func leaveOut(r *job.Result, i int) {
	r.Artifacts[i].Data = nil
	if len(r.Stages) == 0 {
		return
	}
	last := &r.Stages[len(r.Stages)-1]
	extra := maps.Clone(last.Extra)
	if extra == nil {
		extra = map[string]string{}
	}
	extra[r.Artifacts[i].Name] = fmt.Sprintf("This file of %.1f MB (packed) was not kept: it is more than a worker can send with the rest of its result.", float64(r.Artifacts[i].Size)/1e6)
	last.Extra = extra
}

// slimEvaluation leaves out of an evaluation's result what can be missed.
func slimEvaluation(evaluation json.RawMessage) json.RawMessage {
	var result kernelrun.Result
	if evaluation == nil || json.Unmarshal(evaluation, &result) != nil {
		return evaluation
	}
	data, err := json.Marshal(result.Slim())
	if err != nil {
		return evaluation
	}
	return data
}

// shorten cuts every text of the result to limit bytes.
func shorten(r *job.Result, limit int) {
	for i := range r.Stages {
		s := &r.Stages[i]
		s.Stdout, s.Stderr, s.Command = cut(s.Stdout, limit), cut(s.Stderr, limit), cut(s.Command, limit)
		if s.Failure != nil {
			failure := *s.Failure
			failure.Reason = cut(failure.Reason, max(limit, maxMessage/8))
			s.Failure = &failure
		}
		for k := range s.Cases {
			c := &s.Cases[k]
			c.Message, c.Spec = cut(c.Message, limit), cut(c.Spec, limit)
		}
		if size := textSize(s.Extra); size > limit {
			s.Extra = map[string]string{"warpboard": fmt.Sprintf("%d bytes of further keys were left out", size)}
		}
	}
}

func textSize(m map[string]string) int {
	n := 0
	for k, v := range m {
		n += len(k) + len(v)
	}
	return n
}

// cut shortens s to about limit bytes by taking out its middle, with a note there.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	note := fmt.Sprintf(" [… %d bytes cut …] ", len(s)-limit)
	keep := max(0, limit-len(note))
	head, tail := strings.ToValidUTF8(s[:keep/2], ""), strings.ToValidUTF8(s[len(s)-keep/2:], "")
	return strings.TrimSpace(head + note + tail)
}
