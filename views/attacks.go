package views

import (
	"fmt"
	"slices"
	"time"

	"warpboard/views/format"
)

// Attack is one program of the corpus that tries to be shown a time that it did not take, or an answer that it did
// not compute, with how it last ended.
type Attack struct {
	Name     string // of its folder
	Title    string
	Family   string // what it has in common with others: "False clocks"
	Where    string // what it runs as: "CUDA C++", "Python on the CPU"
	GPU      bool   // it needs one
	Tries    string // what it tries, in a sentence
	Expected string // "refused", "scored honestly", "limit"
	Results  []AttackResult
}

// AttackResult is how an attack ended the last time on a device, with a version of the harness.
type AttackResult struct {
	Harness   string // its version, as warpboard version says it
	Older     bool   // it is not the one that this site measures with
	Device    string
	Verdict   string // "refused", "scored honestly", "limit", "ranked"
	Held      bool   // it ended as expected, and so did its twin
	ClaimedNS float64
	ShownNS   float64
	At        time.Time
}

// held counts the attacks that were tried on the harness of this site, and those of them that ended as expected
// wherever they were.
func held(attacks []Attack) (held, tried int) {
	for _, a := range attacks {
		now := slices.DeleteFunc(slices.Clone(a.Results), func(r AttackResult) bool { return r.Older })
		if len(now) == 0 {
			continue
		}
		tried++
		if !slices.ContainsFunc(now, func(r AttackResult) bool { return !r.Held }) {
			held++
		}
	}
	return held, tried
}

// attackFamily is attacks with something in common.
type attackFamily struct {
	name    string
	attacks []Attack
}

// attackFamilies divides attacks by family; those of a family follow each other.
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

// failed counts the attacks that did not end as expected on this site's harness.
func (f attackFamily) failed() int {
	held, tried := held(f.attacks)
	return tried - held
}

// claim is the attack's result that would have gained most: its claim against the time that was shown. Empty: none was shown.
func (f attackFamily) claim() string {
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

// attacksHeld says how the attacks that were run ended, and how many of the others need a GPU.
func attacksHeld(attacks []Attack) string {
	held, tried := held(attacks)
	said := fmt.Sprintf("%d of the %d that were run with this version end as expected.", held, tried)
	if held == tried && tried > 1 {
		said = fmt.Sprintf("All %d that were run with this version were refused or timed truthfully.", tried)
	}
	left, before := 0, 0
	for _, a := range attacks {
		if !a.GPU || slices.ContainsFunc(a.Results, func(r AttackResult) bool { return !r.Older }) {
			continue
		}
		left++
		if len(a.Results) > 0 {
			before++
		}
	}
	switch others := format.Plural(left, "other needs", "others need"); {
	case before > 0:
		return said + fmt.Sprintf(" %s a GPU; %d of them ran with an earlier version.", others, before)
	case left > 0:
		return said + " " + others + " a GPU."
	}
	return said
}
