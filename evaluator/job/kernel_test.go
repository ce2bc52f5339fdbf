package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMergeKernelsMakesOneListOfAllCases(t *testing.T) {
	cases := []CaseResult{
		{Kernels: []Kernel{{Name: "own", Origin: "source", LaunchCount: 2, NS: 100},
			{Name: "fill", Origin: "ATen", FromLibrary: true, LaunchCount: 1, NS: 3}}},
		{},
		{Kernels: []Kernel{{Name: "gemm", Origin: "cuBLAS", FromLibrary: true, LaunchCount: 1, NS: 896},
			{Name: "fill", Origin: "ATen", FromLibrary: true, LaunchCount: 3, NS: 1}}},
	}
	want := []Kernel{{Name: "gemm", Origin: "cuBLAS", FromLibrary: true, LaunchCount: 1, NS: 896, Share: 0.896, CaseCount: 1},
		{Name: "own", Origin: "source", LaunchCount: 2, NS: 100, Share: 0.1, CaseCount: 1},
		{Name: "fill", Origin: "ATen", FromLibrary: true, LaunchCount: 4, NS: 4, Share: 0.004, CaseCount: 2}}
	got := MergeKernels(cases)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, is +:\n%s", diff)
	}
	if libraries := LibrariesText(got); libraries != "cuBLAS 90\u00a0%, ATen under 1\u00a0%" {
		t.Errorf("libraries: %s", libraries)
	}
	cases[2].Kernels[1].NS = 0 // one time is unknown, so no share can be computed
	got = MergeKernels(cases)
	if got[0].Share != 0 || got[2].NS != 0 || LibrariesText(got) != "cuBLAS, ATen" {
		t.Errorf("without a time: %+v", got)
	}
	if none := MergeKernels(nil); none != nil || LibrariesText(none) != "" {
		t.Errorf("without cases: %+v", none)
	}
}

func TestAWorkersKernelsHaveBounds(t *testing.T) {
	for name, kernels := range map[string][]Kernel{
		"many":          make([]Kernel, 257),
		"a long name":   {{Name: string(make([]byte, 300))}},
		"negative time": {{NS: -1}},
		"huge time":     {{NS: 1e300}},
		"no launches":   {{LaunchCount: -1}},
		"a large share": {{Share: 2}},
	} {
		r := Result{Stages: []StageResult{{Cases: []CaseResult{{Kernels: kernels}}}}}
		if r.Check() == nil {
			t.Errorf("%s: the result is taken", name)
		}
	}
}
