package job_test

import (
	"strings"
	"testing"

	"warpboard/evaluator/job"
)

func TestAProfileFilterSaysWhatItChooses(t *testing.T) {
	for want, f := range map[string]*job.ProfileFilter{
		"":                             nil,
		"Kernel matmul, launches 3–5":  {Kernel: "matmul", LaunchSkip: 2, LaunchCount: 3},
		"Kernels like mat.*, launch 1": {Kernel: "regex:mat.*", LaunchCount: 1},
		"Launches from 3":              {LaunchSkip: 2},
		"Section Occupancy":            {Sections: []string{"Occupancy"}},
		"Kernel (private)":             (&job.ProfileFilter{Kernel: "secret"}).WithoutNames(),
		"Kernel k, sections Occupancy, SpeedOfLight": {Kernel: "k", Sections: []string{"Occupancy", "SpeedOfLight"}},
	} {
		if got := f.String(); got != want || f.Check() != nil {
			t.Errorf("%q (%v), want %q", got, f.Check(), want)
		}
	}
}

func TestAProfileFilterIsRefusedWithTheReason(t *testing.T) {
	for want, f := range map[string]job.ProfileFilter{
		`no section "Speed": choose from SpeedOfLight, `: {Sections: []string{"Speed"}},
		"Occupancy is named twice":                       {Sections: []string{"Occupancy", "Occupancy"}},
		"skip must be from 0 to 10000, not -1":           {LaunchSkip: -1},
		"skip must be from 0 to 10000, not 10001":        {LaunchSkip: 10_001},
		"profile must be from 1 to 16, not 17":           {LaunchCount: 17},
		"has 201 bytes":                                  {Kernel: strings.Repeat("k", 201)},
		"invisible character":                            {Kernel: "a\nb"},
		"must not begin with -":                          {Kernel: "--set"},
		"a pattern after regex:":                         {Kernel: "regex:"},
		"pattern is not a regular expression":            {Kernel: "regex:mat(mul"},
	} {
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", f, err, want)
		}
	}
}

func TestFiltersThatChooseTheSameAreEqual(t *testing.T) {
	var none *job.ProfileFilter
	one := &job.ProfileFilter{Kernel: "k", Sections: []string{"Occupancy"}}
	if !none.Equal(&job.ProfileFilter{}) || one.Equal(none) || none.Equal(one) ||
		!one.Equal(&job.ProfileFilter{Kernel: "k", Sections: []string{"Occupancy"}}) ||
		one.Equal(&job.ProfileFilter{Kernel: "k"}) {
		t.Error("filters are compared wrongly")
	}
}
