package views

import (
	"fmt"
	"slices"
	"time"

	"warpboard/views/format"
)

// Attack is a program of the attack corpus that tries to get a false time or a wrong output accepted, with its latest
// results.
type Attack struct {
	Name            string // folder name
	Title           string
	Family          string // group of similar attacks: "False clocks"
	Platform        string // language and device: "CUDA C++", "Python on the CPU"
	NeedsGPU        bool   // the attack needs a GPU
	Description     string // what it does, in a sentence
	ExpectedVerdict string // "refused", "scored honestly", "limit"
	Results         []AttackResult
}

// AttackResult is the latest result of an attack on a device, with a version of the harness.
type AttackResult struct {
	Harness            string // version, as printed by warpboard version
	IsFromOtherVersion bool   // not the version of this site
	Device             string
	Verdict            string // "refused", "scored honestly", "limit", "ranked"
	EndedAsExpected    bool   // the attack and the same kernel without it ended as expected
	ClaimedNS          float64
	ShownNS            float64
	MeasuredAt         time.Time
}

// countExpectedOutcomes counts the attacks tried on the harness of this site, and how many of them ended as expected on
// every device.
func countExpectedOutcomes(attacks []Attack) (held, tried int) {
	for _, a := range attacks {
		now := slices.DeleteFunc(slices.Clone(a.Results), func(r AttackResult) bool { return r.IsFromOtherVersion })
		if len(now) == 0 {
			continue
		}
		tried++
		if !slices.ContainsFunc(now, func(r AttackResult) bool { return !r.EndedAsExpected }) {
			held++
		}
	}
	return held, tried
}

// attackFamily is a group of similar attacks.
type attackFamily struct {
	name    string
	attacks []Attack
}

// attackFamilies groups attacks by family; attacks of a family must be adjacent.
func attackFamilies(attacks []Attack) (families []attackFamily) {
	for _, a := range attacks {
		if last := len(families) - 1; last < 0 || families[last].name != a.Family {
			families = append(families, attackFamily{name: a.Family})
		}
		of := &families[len(families)-1]
		of.attacks = append(of.attacks, a)
	}
	return families
}

// failedCount counts the attacks that did not end as expected on this site's harness.
func (f attackFamily) failedCount() int {
	held, tried := countExpectedOutcomes(f.attacks)
	return tried - held
}

// claimSentence describes the attack whose false time is farthest below the time that the board shows; "" if no result
// has a shown time.
func (f attackFamily) claimSentence() string {
	var most AttackResult
	for _, a := range f.attacks {
		for _, r := range a.Results {
			if r.ClaimedNS > 0 && r.ShownNS-r.ClaimedNS > most.ShownNS-most.ClaimedNS {
				most = r
			}
		}
	}
	if most.ShownNS == 0 {
		return ""
	}
	return fmt.Sprintf("largest false claim: %s, shown as %s", format.Nanoseconds(most.ClaimedNS), format.Nanoseconds(most.ShownNS))
}

// attacksSummary describes how many attacks ended as expected, and how many of the remaining ones need a GPU.
func attacksSummary(attacks []Attack) string {
	held, tried := countExpectedOutcomes(attacks)
	text := fmt.Sprintf("%d of the %d that were run with this version end as expected.", held, tried)
	if held == tried && tried > 1 {
		text = fmt.Sprintf("All %d that were run with this version were refused or timed truthfully.", tried)
	}
	left, before := 0, 0
	for _, a := range attacks {
		if !a.NeedsGPU || slices.ContainsFunc(a.Results, func(r AttackResult) bool { return !r.IsFromOtherVersion }) {
			continue
		}
		left++
		if len(a.Results) > 0 {
			before++
		}
	}
	switch others := format.Plural(left, "other needs", "others need"); {
	case before > 0:
		return text + fmt.Sprintf(" %s a GPU; %d of them ran with an earlier version.", others, before)
	case left > 0:
		return text + " " + others + " a GPU."
	}
	return text
}
