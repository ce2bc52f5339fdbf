package ncu

import (
	"testing"

	"warpboard/evaluator/ncu/ncutest"
)

// reports names the fixtures: output of ncu 2025.3.1 on an H200.
var reports = []string{"cuda4", "tri"}

func fixture(t testing.TB, report, page string) []byte {
	t.Helper()
	return ncutest.Page(t, "testdata", report, page)
}

func pages(t testing.TB, report string) CSVPages {
	t.Helper()
	return CSVPages{
		Version:     "NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 36398880)",
		DetailsPage: fixture(t, report, "details"), RawPage: fixture(t, report, "raw"), SourcePage: fixture(t, report,
			"source"),
	}
}
