package likeness

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"warpboard/tasks"
)

// TestASubmissionIsReadUpToABound checks that maxSourceBytes limits the source and all additional files together.
func TestASubmissionIsReadUpToABound(t *testing.T) {
	var text bytes.Buffer
	for i := 0; text.Len() < maxSourceBytes; i++ {
		fmt.Fprintf(&text, "%c", "+-*/%&|^~!"[i*i%7+i%3])
	}
	l, bounded := New(nil), tasks.Submission{Source: text.Bytes()[:maxSourceBytes]}
	long := tasks.Submission{Source: bounded.Source, Files: map[string][]byte{}}
	for i := range 7 {
		long.Files[fmt.Sprint("part", i,
			".cuh")] = bytes.Repeat([]byte(fmt.Sprintf("x%d = y[%d]; while (z) f();", i, i)), 5000)
	}
	if want, got := l.sourceFingerprints(bounded), l.sourceFingerprints(long); !slices.Equal(want, got) {
		t.Errorf("%d prints of a submission at the bound, %d with seven files more", len(want), len(got))
	}
	half := tasks.Submission{Source: bounded.Source[:maxSourceBytes/2], Files: long.Files}
	if len(l.sourceFingerprints(half)) <= len(l.sourceFingerprints(tasks.Submission{Source: half.Source})) {
		t.Error("further files within the bound are not read")
	}
}
