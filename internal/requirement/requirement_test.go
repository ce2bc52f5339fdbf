package requirement_test

import (
	"strings"
	"testing"

	"warpboard/internal/requirement"
)

func TestRequirementsCompareVersionsAsPEP440Does(t *testing.T) {
	for text, versions := range map[string]string{
		"torch":             "+2.9 +nonsense",
		"torch>=2.9":        "+2.9 +2.9.0 +2.9.1+cu128 +2.10.0.dev20251101+cu130 +2.9.post1 -2.9.0rc1 -2.9.dev1 -2.8.9 +1!0.1 -nonsense",
		"torch==2.9":        "+2.9.0 +2.9.0+cu128 -2.9.1 -2.9rc1 -2.9.post1",
		"torch==2.9+cu128":  "+2.9.0+cu128 +2.9+CU128 -2.9 -2.9+cu130",
		"torch!=2.9":        "-2.9.0 -2.9+cu128 +2.9.1",
		"torch==2.9.*":      "+2.9 +2.9.7 +2.9rc1 -2.90 -2.10 -1!2.9",
		"torch!=2.9.*":      "-2.9.3 +2.10",
		"torch<3":           "+2.9 -3 -3.0rc1 -3.0.dev1 -3!0.1.dev0 -3.post1",
		"torch<3rc1":        "+3.0b1 +3.dev2 -3rc1",
		"torch>3":           "-3 -3.0 -3.post1 -3+cu1 +3.0.1 +3.1.dev1",
		"torch>3.post1":     "+3.post2 -3.post1 -3",
		"torch<=3":          "+3 +3.0+cu1 +3rc1 -3.post1",
		"torch~=2.2":        "+2.2 +2.9 -3 -2.1",
		"torch~=2.2.1":      "+2.2.1 +2.2.9 -2.3 -2.2",
		"torch>=2,<3,!=2.5": "+2.4 -2.5 -1.9 -3.1",
		"torch>=0":          "+9223372036854775807.1 -" + strings.Repeat("9", 30) + " -" + strings.Repeat("1.", 40) + "1",
	} {
		r, err := requirement.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for word := range strings.FieldsSeq(versions) {
			if got := r.IsMetBy(word[1:]); got != (word[0] == '+') {
				t.Errorf("%s with %s: %v", text, word[1:], got)
			}
		}
		if r.IsMetBy("") {
			t.Errorf("%s is met by nothing", text)
		}
	}
}

func TestVersionsHaveTheOrderOfPEP440(t *testing.T) {
	ordered := strings.Fields("1.0.dev456 1.0a1 1.0a2.dev456 1.0a12.dev456 1.0a12 1.0b1.dev456 1.0b2 1.0b2.post345.dev456 1.0b2.post345 " +
		"1.0rc1.dev456 1.0rc1 1.0 1.0.post456.dev34 1.0.post456 1.1.dev1 1!0.1")
	for i, low := range ordered {
		for _, high := range ordered[i+1:] {
			least, err := requirement.Parse("x>=" + high)
			if err != nil || least.IsMetBy(low) || !least.IsMetBy(high) {
				t.Errorf("%s, %s: %v", low, high, err)
			}
			most, err := requirement.Parse("x<=" + low)
			if err != nil || most.IsMetBy(high) || !most.IsMetBy(low) {
				t.Errorf("%s, %s: %v", low, high, err)
			}
		}
	}
	same, err := requirement.Parse("x==1.0rc1.post2")
	if err != nil || !same.IsMetBy("V1.0-C_1-R.2") {
		t.Errorf("another spelling: %v", err)
	}
}

func TestRequirementsHaveOneShortForm(t *testing.T) {
	list, _, err := requirement.ParseList([]string{" NVIDIA_cutlass.DSL >= 4 , <5", "torch"})
	if err != nil || list.String() != "nvidia-cutlass-dsl>=4,<5 torch" {
		t.Errorf("%q, %v", list, err)
	}
	if again := list.Requirements(); len(again) != 2 || again[0].String() != list[0] || again[1].Name != "torch" {
		t.Errorf("%+v", again)
	}
}

func TestOtherRequirementsAreRefusedWithAReason(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "not a requirement",
		"-r file":                           "not a requirement",
		"torch\n>=2":                        "not a requirement",
		"torch[all]>=2":                     "extras",
		"torch @ https://example.org/a.whl": "address",
		`torch>=2; python_version<"3.9"`:    "environment",
		"torch>=":                           "condition",
		"torch 2.9":                         "condition",
		"torch===2.9":                       "condition",
		"torch>=2,":                         "condition",
		"torch=>2":                          "condition",
		"torch>=2.x":                        "not a version",
		"torch>=2.*":                        ".*",
		"torch==2rc1.*":                     ".*",
		"torch~=2":                          "two numbers",
		"torch>=2+cu1":                      "equal",
		"torch>=" + strings.Repeat("9", 99): "not a version",
		strings.Repeat("a", 101):            "at most 100",
		strings.Repeat("torch,", 1<<20):     "at most 200",
	} {
		if _, err := requirement.Parse(text); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
			t.Errorf("%.60q: %v", text, err)
		}
	}
	if _, at, err := requirement.ParseList(make([]string, 21)); at != -1 || err == nil {
		t.Errorf("21 requirements: %v", err)
	}
}

func TestASentenceNamesTheMissingPackages(t *testing.T) {
	list := requirement.List(strings.Fields("nvidia-cutlass-dsl>=4 torch")).Requirements()
	old, without := requirement.Packages{"nvidia-cutlass-dsl": "3.9", "torch": "2.9"}, requirement.Packages{"torch": "2.9"}
	for _, tt := range []struct {
		machines []requirement.Packages
		want     string
	}{
		{nil, "a worker that has nvidia-cutlass-dsl>=4 and torch; no worker serves H100 at the moment"},
		{[]requirement.Packages{old, without}, "a worker that has nvidia-cutlass-dsl>=4; H100's workers have nvidia-cutlass-dsl 3.9"},
		{[]requirement.Packages{{}}, "a worker that has nvidia-cutlass-dsl>=4 and torch; H100's workers have no nvidia-cutlass-dsl, no torch"},
		{[]requirement.Packages{without, {"nvidia-cutlass-dsl": "4.1"}}, "a worker that has nvidia-cutlass-dsl>=4 and torch; each of H100's workers has only some of these"},
		{[]requirement.Packages{old, {"nvidia-cutlass-dsl": "4.1", "torch": "2.9"}}, ""},
	} {
		if got := requirement.MissingWorkerText(list, "H100", tt.machines); got != tt.want {
			t.Errorf("%v: %q", tt.machines, got)
		}
	}
}

func BenchmarkMeet(b *testing.B) {
	long := strings.Repeat("torch>=1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0,<2!0rc1,!=3,!=4,!=5,!=6,!=7,!=8,!=9,!=10,!=11,!=12,!=13,!=14,!=15,!=16,!=17,!=18,!=19,!=20,!=21,!=22 ", 20)
	for b.Loop() {
		requirement.Packages{"torch": "2.9.0+cu128"}.MeetAll(requirement.List(strings.Fields(long)).Requirements())
	}
}
