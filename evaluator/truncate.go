package evaluator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
)

const (
	// messageReserveBytes is the part of a message that is reserved for subject and headers, which NATS counts against
	// the limit.
	messageReserveBytes = 4 << 10
	// maxTruncatedText and minTruncatedText are the first and the last limit of texts, in bytes, that is tried for a
	// result that does not fit.
	maxTruncatedText, minTruncatedText = 64 << 10, 64
	// minTruncatedReason is the minimum limit of the reason of a failure, in bytes.
	minTruncatedReason = 512
)

// truncateResult shortens a result so that it fits into a message of size bytes. It drops the least important data
// first: artifacts, single times, then more and more of the texts, each with a mark. Data that determines the score
// stays. If the result is still too large, the attempt ends with an infrastructure error.
func truncateResult(r *job.Result, size int) {
	fits := func() bool {
		data, err := json.Marshal(r)
		return err == nil && len(data)+messageReserveBytes <= size && job.CheckValueCount(data) == nil
	}
	// Stages and cases may be shared with events that are still being sent.
	r.Stages = slices.Clone(r.Stages)
	for i := range r.Stages {
		r.Stages[i].Cases = slices.Clone(r.Stages[i].Cases)
	}
	// Texts of every result are shortened, because the site refuses longer ones.
	shortenTexts(r, job.MaxTextBytes)
	if fits() {
		return
	}
	r.Evaluation = trimEvaluation(r.Evaluation)
	if fits() {
		return
	}
	for _, i := range artifactDropOrder(r.Artifacts) {
		r.DropArtifact(i, "it is more than a worker can send with the rest of its result")
		if fits() {
			return
		}
	}
	for i := range r.Stages {
		for k := range r.Stages[i].Cases {
			r.Stages[i].Cases[k].Times = nil
		}
	}
	// The loop has eleven rounds. A result that is still too large has tens of thousands of cases, with texts of 64
	// bytes.
	for limit := maxTruncatedText; limit >= minTruncatedText; limit /= 2 {
		if shortenTexts(r, limit); fits() {
			return
		}
	}
	*r = replaceOversizedResult(*r, size)
}

// replaceOversizedResult returns the replacement for a result that does not fit into a message, so that the site learns
// that the attempt ended. Otherwise the worker would send it again forever and occupy its slot. The loss counts against
// the job, because another attempt would probably end in the same way, and a few of these end the run.
func replaceOversizedResult(r job.Result, size int) job.Result {
	why := fmt.Sprintf("it is larger than the %.1f MB that a message can have, with all texts cut: its stages have %d cases together; a task needs fewer cases", float64(size)/1e6, caseCount(r))
	if _, err := json.Marshal(r); err != nil {
		why = fmt.Sprintf("it cannot be written as JSON (%v)", err)
	}
	return job.Result{
		RunID: r.RunID, EvaluationID: r.EvaluationID, AttemptID: r.AttemptID, AttemptSecret: r.AttemptSecret,
		Outcome: job.OutcomeLost, CausedByJob: true,
		Failure: &job.Failure{
			IsInfrastructureError: true,
			Reason:                fmt.Sprintf("Worker %s has a result but could not send it: %s.", r.Machine.Worker, why),
		},
		Machine: job.Machine{Worker: r.Machine.Worker}, HarnessName: r.HarnessName,
		WallNS: r.WallNS, ProgramNS: r.ProgramNS, SlotNS: r.SlotNS,
	}
}

func caseCount(r job.Result) (n int) {
	for _, stage := range r.Stages {
		n += len(stage.Cases)
	}
	return n
}

// artifactDropOrder returns the indexes of artifacts in the order in which to drop them: reports for the desktop tool
// before data for the site's charts, and large ones before small ones.
func artifactDropOrder(artifacts []job.Artifact) []int {
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

// trimEvaluation removes the least important data from an evaluation's result.
func trimEvaluation(evaluation json.RawMessage) json.RawMessage {
	var result kernelrun.Result
	if evaluation == nil || json.Unmarshal(evaluation, &result) != nil {
		return evaluation
	}
	data, err := json.Marshal(result.WithoutDetails())
	if err != nil {
		return evaluation
	}
	return data
}

// shortenTexts cuts every text of the result to limit bytes.
func shortenTexts(r *job.Result, limit int) {
	for i := range r.Stages {
		s := &r.Stages[i]
		s.Stdout, s.Stderr, s.Command = attempt.ShortenMiddle(s.Stdout, limit), attempt.ShortenMiddle(s.Stderr, limit), attempt.ShortenMiddle(s.Command, limit)
		if s.Failure != nil {
			failure := *s.Failure
			failure.Reason = attempt.ShortenMiddle(failure.Reason, max(limit, minTruncatedReason))
			s.Failure = &failure
		}
		for k := range s.Cases {
			c := &s.Cases[k]
			c.Message, c.SpecLine = attempt.ShortenMiddle(c.Message, limit), attempt.ShortenMiddle(c.SpecLine, limit)
		}
		if size := attempt.TextMapSize(s.ExtraKeys); size > limit {
			s.ExtraKeys = map[string]string{"warpboard": fmt.Sprintf("%d bytes of further keys were left out", size)}
		}
	}
}
