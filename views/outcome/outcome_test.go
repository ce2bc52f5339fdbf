package outcome

import (
	"strings"
	"testing"

	"warpboard/models/boards"
)

func TestAnOutcomeReadsInShortSentences(t *testing.T) {
	roof := 0.78
	for want, o := range map[string]boards.Outcome{
		"Record; 3rd → 1st on H100; 2.31× faster than your previous best (#54); 4.1 % ahead of ada (2nd); 78.0 % of this device's measured limit": {
			Rank: 1, IsEntry: true, IsRecord: true, BestRun: 1, BestSubmission: 54, BestNS: 231, BestRank: 3, NextRun: 2,
			NextSubmission: 50, NextUser: "ada", NextNS: 104.1, NextRank: 2, RooflineShare: &roof},
		"Record, not confirmed; 1st on H100": {Rank: 1, IsEntry: true, IsRecord: true, Unconfirmed: true},
		"Former record; Tied 2nd on H100":    {Rank: 2, Tied: true, IsEntry: true, IsRecord: true},
		"5th on H100 in your first ranked run; 4.2 % behind ada (tied 2nd)": {
			Rank: 5, IsEntry: true, IsPersonsFirst: true, NextRun: 2, NextUser: "ada", NextNS: 96, NextRank: 2, NextTied: true},
		"Your entry stays tied 1st with 1 other person on H100; This run is 1.25× slower than your entry (#54)": {
			Rank: 1, Tied: true, TiedWithCount: 1, BestRun: 1, BestSubmission: 54, BestNS: 80, BestRank: 1, NextRun: 2,
			NextUser: "ada", NextNS: 40, NextRank: 1, NextTied: true},
		"Your entry stays 3rd on H100; No clear difference between this run and your entry (#54)": {
			Rank: 3, BestRun: 1, BestSubmission: 54, BestNS: 18, BestRank: 3, BestWithinNoise: true, NextRun: 2,
			NextUser: "ada", NextNS: 15, NextRank: 2},
		"3rd → 2nd on H100; No clear difference from your previous best (#54); No clear difference from ada (1st)": {
			Rank: 2, IsEntry: true, BestRun: 1, BestSubmission: 54, BestNS: 548, BestRank: 3, BestWithinNoise: true,
			NextRun: 2, NextUser: "ada", NextNS: 40, NextRank: 1, NextWithinNoise: true},
		"Tied 5th with 1 other person on H100; No clear difference from ada (tied 1st); You may be tied for 1st place, but the measurement is too noisy to say. Running the same source again narrows it": {
			Rank: 5, Tied: true, TiedWithCount: 1, IsEntry: true, NextRun: 2, NextUser: "ada", NextNS: 96, NextRank: 1,
			NextTied: true, NextWithinNoise: true, NextRankReason: boards.ReasonWideInterval},
		"1st on H100; No clear difference from ada (2nd); ada may be tied for 1st place, but the measurement is too noisy to say. Running the same source again narrows it": {
			Rank: 1, IsEntry: true, NextRun: 2, NextUser: "ada", NextNS: 110, NextRank: 2, NextWithinNoise: true,
			NextRankReason: boards.ReasonWideInterval},
		"3rd on H100; No clear difference from ada (tied 1st); Ranked 3rd because this run is clearly slower than the first entry in 1st place, which decides ties": {
			Rank: 3, IsEntry: true, NextRun: 2, NextUser: "ada", NextNS: 96, NextRank: 1, NextTied: true,
			NextWithinNoise: true, NextRankReason: boards.ReasonSlowerThanFirst},
		"3rd on H100; No clear difference from ada (1st); Ranked 3rd with a faster entry that is clearly slower than the first entry in 1st place": {
			Rank: 3, IsEntry: true, NextRun: 2, NextUser: "ada", NextNS: 96, NextRank: 1, NextWithinNoise: true,
			NextRankReason: boards.ReasonBetweenBands},
		"Still 3rd on H100; < 0.5 % faster than your previous best (#54)": {Rank: 3, IsEntry: true, BestRun: 1,
			BestSubmission: 54, BestNS: 100.3, BestRank: 3},
		"Tied 1st on H100, waits for confirmation; Tied with ada": {Rank: 1, Tied: true, IsEntry: true,
			AwaitsConfirmation: true, NextRun: 2, NextUser: "ada", NextNS: 99.9, NextRank: 1, NextTied: true},
		"Tied 5th with 1 other person on H100; 4.2 % behind ada (2nd)": {
			Rank: 5, Tied: true, TiedWithCount: 1, IsEntry: true, NextRun: 2, NextSubmission: 50, NextUser: "ada", NextNS: 96,
			NextRank: 2},
		"Tied 1st on H100; Tied with ada and 2 other people": {
			Rank: 1, Tied: true, TiedWithCount: 3, IsEntry: true, NextRun: 2, NextUser: "ada", NextNS: 99.9, NextRank: 1,
			NextTied: true},
		"3.00× faster than ada (2nd)": {IsEntry: true, NextRun: 2, NextUser: "ada", NextNS: 300, NextRank: 2},
		"":                            {IsEntry: true},
	} {
		var text []string
		for _, f := range DescribeOutcome(o, "H100", 100, true) {
			text = append(text, strings.ReplaceAll(f.Text, "\u00a0", " "))
		}
		if got := strings.Join(text, "; "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if text := DescribeOutcome(boards.Outcome{Rank: 1, IsEntry: true, IsPersonsFirst: true}, "H100", 100,
		false)[0].Text; text != "1st on H100 in their first ranked run" {
		t.Errorf("others read %q", text)
	}
}
