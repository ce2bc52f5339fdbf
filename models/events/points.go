package events

import (
	"math"
	"strconv"
	"strings"

	"warpboard/models/db"
	"warpboard/tasks/parse"
)

// ScoreRatioRule is the points rule that compares scores: 100 points for the best score of a board, 50 for a score
// twice as high.
const ScoreRatioRule = "ratio"

// PointsRule returns the points for a rank (from 1), a score, and the best score of the board. Points have two decimals
// and are not negative.
type PointsRule func(rank int, score, best float64) float64

// ParsePointsRule parses a points rule:
//
// "5/3/1": by rank; 5 points for the first, 3 for the second, 1 for the third, 0 for all others
//
// "100/place": a formula of the rank with numbers, + - * / ** and parentheses
//
// "ratio": 100 × best score / own score
//
// Entrants that share a rank each get its points.
func ParsePointsRule(text string) (PointsRule, error) {
	switch text = strings.TrimSpace(text); {
	case len(text) > maxPointsRuleLength:
		return nil, db.Errorf(db.Invalid, "The points rule has %d characters; at most %d are allowed.", len(text), maxPointsRuleLength)
	case text == ScoreRatioRule:
		return func(_ int, score, best float64) float64 { return roundPoints(min(100, 100*best/score)) }, nil
	case strings.Contains(text, "place"):
		return parseFormulaRule(text)
	}
	var list []float64
	for part := range strings.SplitSeq(text, "/") {
		n, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(n >= 0 && n <= maxPointsPerBoard) { // written so that NaN is refused, too
			return nil, unknownRuleError(text)
		}
		list = append(list, n)
	}
	return func(rank int, _, _ float64) float64 {
		if rank > len(list) {
			return 0
		}
		return roundPoints(list[rank-1])
	}, nil
}

const (
	maxPointsPerBoard   = 1_000_000 // limit of the points for one board
	maxPointsRuleLength = 1000      // characters; the rule is parsed for every view of the event
)

func parseFormulaRule(text string) (PointsRule, error) {
	expression, err := parse.ParseArithmetic(text)
	if err != nil {
		return nil, unknownRuleError(text)
	}
	of := func(rank int) (float64, error) {
		return expression(func(name string) (float64, error) {
			if name != "place" {
				return 0, unknownRuleError(text)
			}
			return float64(rank), nil
		})
	}
	for rank := range 100 {
		if n, err := of(rank + 1); err != nil || math.IsNaN(n) || n > maxPointsPerBoard {
			return nil, unknownRuleError(text)
		}
	}
	return func(rank int, _, _ float64) float64 {
		n, err := of(rank)
		if err != nil || math.IsNaN(n) {
			return 0
		}
		return roundPoints(n)
	}, nil
}

func unknownRuleError(text string) error {
	return db.Errorf(db.Invalid, "There is no points rule %q: write points by place like 5/3/1, a formula like 100/place, or ratio.", text)
}

func roundPoints(n float64) float64 { return math.Round(100*min(max(0, n), maxPointsPerBoard)) / 100 }
