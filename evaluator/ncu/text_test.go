package ncu

import (
	"strings"
	"testing"
)

func TestATextReportNamesEachKernelsBound(t *testing.T) {
	r := ParsePages(pages(t, "cuda4"))
	var out strings.Builder
	r.WriteText(&out)
	for _, k := range r.Kernels {
		if verdict := BottleneckSentence(&k); verdict != "" && !strings.Contains(out.String(), verdict) {
			t.Errorf("the verdict of %s is missing: %s", k.ShortName, verdict)
		}
	}
	for _, part := range []string{"Speed of light:", "Findings of Nsight Compute", "Warps wait for:",
		"Hottest instructions:\n  "} {
		if n := strings.Count(out.String(), part); n == 0 {
			t.Errorf("%q is missing in\n%s", part, &out)
		}
	}
	if len(out.String()) > 12_000 {
		t.Errorf("four kernels take %d bytes:\n%s", out.Len(), &out)
	}
}
