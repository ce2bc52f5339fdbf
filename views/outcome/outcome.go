package outcome

import (
	"fmt"

	"warpboard/models/boards"
	"warpboard/views/format"
)

// OutcomeFact is one sentence about an outcome.
type OutcomeFact struct {
	Topic        string // "record", "place", "best", "next", "why" or "roof"
	Text         string
	SubmissionID int64 // submission in the sentence; 0 for none
}

// DescribeOutcome describes the outcome of a run with a score, to its owner if mine, otherwise to others.
func DescribeOutcome(o boards.Outcome, device string, scoreNS float64, mine bool) (facts []OutcomeFact) {
	add := func(about, text string, submission int64) {
		if text != "" {
			facts = append(facts, OutcomeFact{about, text, submission})
		}
	}
	switch {
	case IsCurrentRecord(o):
		add("record", RecordName("Record", o.Unconfirmed), 0)
	case o.IsRecord:
		add("record", "Former record", 0)
	}
	add("place", rankText(o, device, mine), 0)
	if o.BestRun != 0 {
		add("best", ownBestText(o, scoreNS, mine), o.BestSubmission)
	}
	if o.IsEntry { // compare the entry with its neighbor
		add("next", neighborGap(o, scoreNS), o.NextSubmission)
		add("why", rankReason(o, mine), 0)
	}
	if o.RooflineShare != nil {
		add("roof", format.Percent(*o.RooflineShare)+" of this device's measured limit", 0)
	}
	return facts
}

// IsCurrentRecord reports whether a run is the record of its board at present, and not only when it ended.
func IsCurrentRecord(o boards.Outcome) bool { return o.IsRecord && o.Rank == 1 }

// RecordName returns the name of a record, marked with NotConfirmedMark if unconfirmed.
func RecordName(name string, unconfirmed bool) string {
	if unconfirmed {
		return name + ", " + NotConfirmedMark
	}
	return name
}

// NotConfirmedMark marks records that may be the result of chance.
const NotConfirmedMark = "not confirmed"

func ownerWord(mine bool) string {
	if mine {
		return "your"
	}
	return "their"
}

// rankText describes the current rank of the person and the rank before the run.
func rankText(o boards.Outcome, device string, mine bool) string {
	if o.Rank == 0 {
		return ""
	}
	now := format.Ordinal(o.Rank, o.Tied)
	if o.TiedWithCount > 0 && !isNeighborTied(o) {
		now += " with " + format.Plural(int(o.TiedWithCount), "other person", "other people")
	}
	text := format.UpperFirst(now)
	switch {
	case o.IsPersonsFirst:
		text += fmt.Sprintf(" on %s in %s first ranked run", device, ownerWord(mine))
	case !o.IsEntry:
		text = fmt.Sprintf("%s entry stays %s on %s", format.UpperFirst(ownerWord(mine)), now, device)
	case o.BestRun != 0 && o.BestRank <= o.Rank:
		text = fmt.Sprintf("Still %s on %s", now, device)
	case o.BestRun != 0:
		text = fmt.Sprintf("%s → %s on %s", format.UpperFirst(format.Ordinal(o.BestRank, o.BestTied)), now, device)
	default:
		text += " on " + device
	}
	if o.AwaitsConfirmation {
		text += ", waits for confirmation"
	}
	return text
}

// ownBestText compares a run with another one of the same person: with the entry, or, if the run is the entry, with the
// previous best.
func ownBestText(o boards.Outcome, score float64, mine bool) string {
	other := fmt.Sprintf("%s previous best (#%d)", ownerWord(mine), o.BestSubmission)
	if !o.IsEntry {
		other = fmt.Sprintf("%s entry (#%d)", ownerWord(mine), o.BestSubmission)
	}
	switch {
	case o.BestWithinNoise && o.IsEntry:
		return "No clear difference from " + other
	case o.BestWithinNoise:
		return "No clear difference between this run and " + other
	case o.IsEntry:
		return format.UpperFirst(comparisonText(score, o.BestNS)) + " " + other
	}
	return "This run is " + comparisonText(score, o.BestNS) + " " + other
}

// comparisonText compares two scores: "2.31× faster than".
func comparisonText(score, other float64) string {
	switch {
	case score < other:
		return format.TimeFactor(other/score) + " faster than"
	case score > other:
		return format.TimeFactor(score/other) + " slower than"
	}
	return "as fast as"
}

// isNeighborTied reports whether the neighbor on the board has the same rank.
func isNeighborTied(o boards.Outcome) bool {
	return o.NextRun != 0 && o.IsEntry && o.NextRank == o.Rank
}

// neighborGap describes the difference from the neighbor on the board: "4.1 % behind ada (2nd)".
func neighborGap(o boards.Outcome, score float64) string {
	who := fmt.Sprintf("%s (%s)", o.NextUser, format.Ordinal(o.NextRank, o.NextTied))
	switch {
	case o.NextRun == 0:
		return ""
	case isNeighborTied(o):
		text := "Tied with " + o.NextUser
		if o.TiedWithCount > 1 {
			text += " and " + format.Plural(int(o.TiedWithCount-1), "other person", "other people")
		}
		return text
	case o.NextWithinNoise:
		return "No clear difference from " + who
	case score >= 2*o.NextNS:
		return format.TimeFactor(score/o.NextNS) + " slower than " + who
	case score > o.NextNS:
		return format.Percent(score/o.NextNS-1) + " behind " + who
	case o.NextNS >= 2*score:
		return format.TimeFactor(o.NextNS/score) + " faster than " + who
	case o.NextNS > score:
		return format.Percent(o.NextNS/score-1) + " ahead of " + who
	}
	return "As fast as " + who
}

// rankReason explains why the neighbor and the run have different ranks without a clear difference of scores.
func rankReason(o boards.Outcome, mine bool) string {
	if o.NextRankReason == "" {
		return ""
	}
	who, behind, run, better := "This person", "Ranked "+format.Ordinal(o.Rank, false), "this run", o.NextRank
	if mine {
		who = "You"
	}
	if o.NextRank > o.Rank {
		who, behind, run, better = o.NextUser, o.NextUser+" ranks "+format.Ordinal(o.NextRank, false), "their run", o.Rank
	}
	place := format.Ordinal(better, false) + " place"
	switch o.NextRankReason {
	case boards.ReasonWideInterval:
		return fmt.Sprintf("%s may be tied for %s, but the measurement is too noisy to say. Running the same source again narrows it", who, place)
	case boards.ReasonSlowerThanFirst:
		return fmt.Sprintf("%s because %s is clearly slower than the first entry in %s, which decides ties", behind, run, place)
	}
	return fmt.Sprintf("%s with a faster entry that is clearly slower than the first entry in %s", behind, place)
}
