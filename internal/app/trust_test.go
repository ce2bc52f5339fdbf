package app

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/attacks"
	"warpboard/evaluator/harness"
	"warpboard/views"
)

func TestAnAttackHasTheResultsOfItsOwnDevices(t *testing.T) {
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	table := func(device, harness string, shown float64) attacks.DeviceResults {
		return attacks.DeviceResults{Device: device, Results: []attacks.Result{
			{Attack: "other"}, {Attack: "done_at_once", HarnessDigest: harness, Verdict: attacks.VerdictRefused,
				EndedAsExpected: true,
				ShownTimeNS:     shown, TestedAt: at}}}
	}
	tables := []attacks.DeviceResults{table("CPU", harness.Digest(), 1), table("H200", "another", 2),
		table("B200", harness.Digest(), 3)}
	want := func(harness, device string, older bool, shown float64) views.AttackResult {
		return views.AttackResult{Harness: harness, Device: device, IsFromOtherVersion: older, Verdict: "refused",
			EndedAsExpected: true,
			ShownNS:         shown, MeasuredAt: at}
	}
	for device, want := range map[string][]views.AttackResult{
		"cpu": {want(harness.Digest(), "CPU", false, 1)},
		"gpu": {want("another", "H200", true, 2), want(harness.Digest(), "B200", false, 3)},
	} {
		if diff := cmp.Diff(want, attackResults(attacks.Attack{Name: "done_at_once", Device: device},
			tables)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", device, diff)
		}
	}
}

func TestTheSiteShowsTheCorpusWithItsResults(t *testing.T) {
	corpus, err := attackCorpus()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range corpus {
		if strings.HasSuffix(a.Platform, "on the CPU") && len(a.Results) == 0 {
			t.Errorf("%s was never tried on the CPU: write evaluator/attacks/results/cpu.json again", a.Name)
		}
	}
}
