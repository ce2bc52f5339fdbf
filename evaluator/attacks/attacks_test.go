package attacks_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"warpboard/evaluator/attacks"
	"warpboard/evaluator/device"
	"warpboard/evaluator/harness"
	"warpboard/internal/test/tier"
)

// leastShare is the least time that an attack must be shown with, as a share of its honest twin's. It is below 1,
// because test machines are noisy.
const leastShare = 0.7

// hideable is the time in nanoseconds that a submission can hide from the judge's clocks on the CPU: the subtracted
// cost of an empty call, which a submission may make faster than the judge's own runner (_MOST_NS in
// warpboard_clocks.py, plus mapping an input).
const hideable = 120_000

// TestScoredCPUAttacksShowTheirTrueTime runs each attack that may be scored, and its honest twin, as a ranked stage in
// two sandboxes. It compares their times, so no other tests may run concurrently.
func TestScoredCPUAttacksShowTheirTrueTime(t *testing.T) {
	tier.Needs(t, tier.Timed)
	tryAll(t, func(a attacks.Attack) bool { return a.AllowsVerdict(attacks.VerdictScoredHonestly) })
}

// TestCPUAttacksAreRefusedAndTheirTwinsRanked runs the attacks that must not be scored. It compares no times, so other
// tests may run concurrently.
func TestCPUAttacksAreRefusedAndTheirTwinsRanked(t *testing.T) {
	tier.Needs(t, tier.Attacks)
	tryAll(t, func(a attacks.Attack) bool { return !a.AllowsVerdict(attacks.VerdictScoredHonestly) })
}

// tryAll runs the CPU attacks for which asked returns true, and prints a table of the results.
func tryAll(t *testing.T, asked func(attacks.Attack) bool) {
	all, err := attacks.AllAttacks()
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(a attacks.Attack) bool { return a.Device != "cpu" || !asked(a) })
	a := newArena(t)
	a.compileAhead(t, all)
	table := &bytes.Buffer{}
	rows := tabwriter.NewWriter(table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(rows, "attack\tclaimed\tshown\tclock\ttwin\tverdict")
	ended := attacks.DeviceResults{Device: device.CPU}
	for _, attack := range all {
		var got result
		held := t.Run(attack.Name, func(t *testing.T) { got = a.try(t, attack, rows) })
		if got.status == "" {
			continue // the -run flag excludes this attack
		}
		ended.Results = append(ended.Results,
			attacks.Result{Attack: attack.Name, HarnessDigest: harness.Digest(), Verdict: verdictOf(got),
				EndedAsExpected: held,
				ClaimedTimeNS:   got.claimed, ShownTimeNS: got.shown, TestedAt: time.Now().UTC().Truncate(time.Second)})
	}
	rows.Flush()
	t.Logf("\n%s", table)
	if path := os.Getenv("WARPBOARD_TEST_ATTACK_RESULTS"); path != "" {
		if err := write(path, ended); err != nil {
			t.Error(err)
		}
	}
}

// write writes a file of results. If the file exists, it keeps the results of attacks that were not run now.
func write(path string, ended attacks.DeviceResults) error {
	var before attacks.DeviceResults
	if text, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(text, &before); err != nil {
			return err
		}
	}
	for _, r := range before.Results {
		if !slices.ContainsFunc(ended.Results, func(now attacks.Result) bool { return now.Attack == r.Attack }) {
			ended.Results = append(ended.Results, r)
		}
	}
	slices.SortFunc(ended.Results, func(a, b attacks.Result) int { return strings.Compare(a.Attack, b.Attack) })
	text, err := json.MarshalIndent(ended, "", " ")
	return errors.Join(err, os.WriteFile(path, append(text, '\n'), 0o644))
}

func TestTheCorpusIsLargeAndSaysWhatItTries(t *testing.T) {
	all, err := attacks.AllAttacks()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	texts := map[string]string{}
	for _, a := range all {
		count[a.Device]++
		if a.Title == "" || a.Description == "" {
			t.Errorf("%s does not say what it tries", a.Name)
		}
		if other, known := texts[string(a.Submission)]; known {
			t.Errorf("%s is the same as %s", a.Name, other)
		}
		texts[string(a.Submission)] = a.Name
		if bytes.Equal(a.Submission, a.HonestTwin) {
			t.Errorf("%s is its own twin", a.Name)
		}
	}
	if len(all) < 40 || count["gpu"] < 25 {
		t.Errorf("%v attacks; want 40, 25 of them for GPUs", count)
	}
}

func TestAnAttackOnSeveralGPUsSaysHowMany(t *testing.T) {
	all, err := attacks.AllAttacks()
	if err != nil {
		t.Fatal(err)
	}
	bundles, err := attacks.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	needs := map[string]int{}
	for _, b := range bundles {
		if b.Definition.MultiGPU {
			needs[b.Name] = b.Definition.WorldSize()
		}
	}
	for _, a := range all {
		if a.Device == "gpu" && a.GPUCount != needs[a.Task] {
			t.Errorf("%s says %d, and its task needs %d", a.Name, a.GPUCount, needs[a.Task])
		}
	}
}

func TestResultsAreOfAttacksThatThereAre(t *testing.T) {
	all, err := attacks.AllAttacks()
	if err != nil {
		t.Fatal(err)
	}
	tables, err := attacks.Results()
	if err != nil || len(tables) == 0 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	for _, table := range tables {
		if table.Device == "" || len(table.Results) == 0 {
			t.Errorf("%q, %d results", table.Device, len(table.Results))
		}
		for _, r := range table.Results {
			i := slices.IndexFunc(all, func(a attacks.Attack) bool {
				return a.Name == r.Attack && (a.Device == "cpu") == (table.Device == device.CPU)
			})
			if i < 0 || r.HarnessDigest == "" || r.TestedAt.IsZero() ||
				r.EndedAsExpected && !all[i].AllowsVerdict(r.Verdict) {
				t.Errorf("on %s: %+v", table.Device, r)
			}
		}
	}
}
