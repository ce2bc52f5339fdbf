package submissions_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"warpboard/models/work"
	"warpboard/web/webtest"
)

func TestNoComparisonCostsItsReadersMoreThanARequestMay(t *testing.T) {
	s := webtest.NewScene(t)
	var runs [2]work.Run
	for i := range runs {
		random, text := rand.New(rand.NewPCG(1, uint64(i))), bytes.Buffer{}
		for range 9_999 {
			fmt.Fprintf(&text, "%-40d\n", random.IntN(1e6))
		}
		runs[i] = s.Submit(s.Ada, "H200", text.String())
		s.Finish(runs[i], 1e4)
	}
	s.Costs(t, "two sources of 9,999 lines", func(time int) string {
		return fmt.Sprintf("/compare?a=%d&b=%d&case=%d", runs[0].ID, runs[1].ID, time)
	})
}
