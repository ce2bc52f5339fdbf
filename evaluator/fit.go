package evaluator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"warpboard/evaluator/job"
)

const (
	// envelope is what a message needs beside its JSON.
	envelope = 4 << 10
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
	if fits() {
		return
	}
	for i := range r.Artifacts {
		if r.Artifacts[i].Data == nil {
			continue
		}
		r.Artifacts[i].Data = nil
		if fits() {
			return
		}
	}
	// Stages and cases may be shared with events that are still on their way.
	r.Stages = slices.Clone(r.Stages)
	for i := range r.Stages {
		r.Stages[i].Cases = slices.Clone(r.Stages[i].Cases)
		for k := range r.Stages[i].Cases {
			r.Stages[i].Cases[k].Times = nil
		}
	}
	for limit := largestText; limit >= smallestText && !fits(); limit /= 2 {
		shorten(r, limit)
	}
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
