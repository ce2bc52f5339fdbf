package judge_test

import (
	"context"
	"os"
	"testing"

	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
)

func TestARunnerOfSeveralRanksHasWiresForEach(t *testing.T) {
	given := 0
	runner := func(_ context.Context, files []*os.File, _ judge.ProcessCallbacks) (sandbox.Outcome, error) {
		given = len(files)
		for rank := range 3 {
			files[2*rank].Write([]byte{byte('0' + rank)})
		}
		return sandbox.Outcome{}, nil
	}
	runners := judge.One(runner)
	runners.RanksPerRunner = 3
	message := ""
	end, err := judge.Run(t.Context(), judging(t, func(d door) {
		for number, channel, ok := d.next(); ok; number, channel, ok = d.next() {
			word := make([]byte, 1)
			channel.Read(word)
			channel.Close()
			if message += string(word); number != 0 {
				t.Errorf("rank %s belongs to runner %d", word, number)
			}
		}
	}), runners)
	if err != nil || given != 6 || message != "012" || end.RunnerCount != 1 {
		t.Errorf("%d descriptors, ranks %q, %+v, %v", given, message, end, err)
	}
}
