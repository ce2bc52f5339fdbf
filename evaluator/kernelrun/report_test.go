package kernelrun

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithoutDetailsDropsTheLeastImportantData(t *testing.T) {
	result := Result{Stdout: "printed",
		Metrics: map[string]KernelMetrics{"custom": {DeviceMetrics: map[string]map[string]any{"a": {"b": 1.0}},
			NsightReport: []byte(`{}`)}}}
	result.Compiled, result.Times = true, []float64{1, 2}
	want := Result{Metrics: map[string]KernelMetrics{"custom": {DeviceMetrics: map[string]map[string]any{"a": {"b": 1.0}}}}}
	want.Compiled = true
	if diff := cmp.Diff(want, result.WithoutDetails()); diff != "" {
		t.Error(diff)
	}
}
