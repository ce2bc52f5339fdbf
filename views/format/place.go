package format

import (
	"fmt"
	"strconv"
)

// Rank formats a rank, followed by "=" if others share it: "1="; "–" for 0, an entry without a rank.
func Rank(rank int, tied bool) string {
	if rank == 0 {
		return "–"
	}
	if tied {
		return strconv.Itoa(rank) + "="
	}
	return strconv.Itoa(rank)
}

// Ordinal formats a rank within a sentence: "3rd", or "tied 3rd" if several share it.
func Ordinal(rank int, tied bool) string {
	ending := "th"
	if tens := rank / 10 % 10; tens != 1 {
		switch rank % 10 {
		case 1:
			ending = "st"
		case 2:
			ending = "nd"
		case 3:
			ending = "rd"
		}
	}
	if tied {
		return "tied " + strconv.Itoa(rank) + ending
	}
	return strconv.Itoa(rank) + ending
}

// GapToBest formats the difference of a score from the best one: "+12.5 %", "3.4×" from a factor of two, "" for the
// best score itself.
func GapToBest(score, first float64) string {
	if !(score > first) || !(first > 0) {
		return ""
	}
	ratio := score / first
	switch {
	case ratio >= 2:
		return strconv.FormatFloat(ratio, 'f', 1, 64) + "×"
	case ratio-1 < 0.001:
		return "< 0.1\u00a0%"
	default:
		return fmt.Sprintf("+%.1f\u00a0%%", 100*(ratio-1))
	}
}
