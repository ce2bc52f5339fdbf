package charts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"warpboard/evaluator/ncu"
	"warpboard/views/format"
)

func ruleKind(ruleType string) string {
	switch ruleType {
	case "OPT":
		return "hint"
	case "WRN":
		return "warning"
	}
	return "note"
}

// firstNoteIndex returns the index of the first rule that is only information; those rules are last.
func firstNoteIndex(list []ncu.Rule) int {
	at := len(list)
	for at > 0 && list[at-1].Speedup == nil && ruleKind(list[at-1].Severity) == "note" {
		at--
	}
	return at
}

// speedupText formats the estimated speedup of a rule as Nsight Compute does; a local estimate is for a part of the
// kernel.
func speedupText(r ncu.Rule) string {
	if r.SpeedupType == "local" {
		return "Estimated local speedup"
	}
	return "Estimated speedup"
}

// sentenceEndPattern matches a period before a new sentence, unlike the periods in "20.7" and "e.g. this".
var sentenceEndPattern = regexp.MustCompile(`\.\s*[A-Z]`)

// standaloneNumberPattern matches a number that is not part of a name such as L1TEX.
var standaloneNumberPattern = regexp.MustCompile(`(^|[\s(])\d`)

// overestimateNote returns a note if the speedup that Nsight Compute estimates for the whole kernel exceeds what the
// busiest hardware unit allows; otherwise "".
func overestimateNote(k *ncu.Kernel, r ncu.Rule) string {
	sol := ncu.SpeedOfLight(k)
	top := max(sol[0].Value.Value, sol[1].Value.Value) // percent of peak; 0 if not measured
	if r.Speedup == nil || r.SpeedupType == "local" || !(top > 0) || *r.Speedup <= 100*(100/top-1) {
		return ""
	}
	return "optimistic: the hardware limit leaves less"
}

// Patterns for typographic errors in texts of Nsight Compute: "a 20.7 - way conflict", "requests.This", "33582976.0
// bytes", and two spaces.
var (
	spacedWayPattern       = regexp.MustCompile(`(\d) - way\b`)
	unspacedPeriodPattern  = regexp.MustCompile(`([a-z])\.([A-Z][a-z])`)
	repeatedSpaces         = regexp.MustCompile(` {2,}`)
	ungroupedNumberPattern = regexp.MustCompile(`\b\d{5,15}(\.0+)?\b`)
)

// correctSpacing corrects the spaces and the numbers of a message.
func correctSpacing(message string) string {
	message = spacedWayPattern.ReplaceAllString(message, "$1-way")
	message = unspacedPeriodPattern.ReplaceAllString(message, "$1. $2")
	message = repeatedSpaces.ReplaceAllString(message, " ")
	return ungroupedNumberPattern.ReplaceAllStringFunc(message, func(number string) string {
		n, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return number
		}
		return format.Decimal(n)
	})
}

// firstSentence splits a message after its first sentence.
func firstSentence(message string) (first, rest string) {
	if at := sentenceEndPattern.FindStringIndex(message); at != nil {
		return message[:at[0]+1], strings.TrimSpace(message[at[0]+1:])
	}
	return message, ""
}

// splitSentences splits a message into sentences.
func splitSentences(message string) (list []string) {
	rest := strings.Join(strings.Fields(correctSpacing(message)), " ")
	for {
		at := sentenceEndPattern.FindStringIndex(rest)
		if at == nil {
			return append(list, rest)
		}
		list, rest = append(list, rest[:at[0]+1]), rest[at[1]-1:]
	}
}

// firstNumberedSentence returns the first sentence of a message with a number, because earlier sentences explain terms.
func firstNumberedSentence(message string) string {
	list := splitSentences(message)
	at := slices.IndexFunc(list, standaloneNumberPattern.MatchString)
	return shortenName(list[max(at, 0)], 180)
}

// rankedRule is a rule with its position in the list, from 1.
type rankedRule struct {
	position int
	ncu.Rule
}

// compressionRule is the rule about memory allocated as compressible. Neither cudaMalloc nor torch allocates such
// memory, so the rule helps almost no kernel, although its estimated speedup is often the largest.
const compressionRule = "MemoryL2Compression"

// promisingRules selects the rules for the top of the page. Speedups of a part of the kernel come after speedups of the
// whole kernel.
func promisingRules(rules []ncu.Rule) []rankedRule {
	const most, least = 3, 1.0
	var whole, local []rankedRule
	for i, r := range rules {
		switch {
		case r.Speedup == nil || *r.Speedup < least || r.Name == compressionRule:
		case r.SpeedupType == "local":
			local = append(local, rankedRule{i + 1, r})
		default:
			whole = append(whole, rankedRule{i + 1, r})
		}
	}
	all := append(whole, local...)
	return all[:min(most, len(all))]
}

// messagePart is a part of a message: text, or an address that becomes a link.
type messagePart struct {
	text   string
	isLink bool
}

var manualURLPattern = regexp.MustCompile(`https://docs\.nvidia\.com/[^\s()<>"]+`)

// splitLinks finds links to the documentation of NVIDIA in a message. Other addresses do not become links, because the
// program under the profiler can forge a report.
func splitLinks(message string) []messagePart {
	var out []messagePart
	end := 0
	for _, at := range manualURLPattern.FindAllStringIndex(message, -1) {
		out = append(out, messagePart{correctSpacing(message[end:at[0]]), false},
			messagePart{message[at[0]:at[1]], true})
		end = at[1]
	}
	return append(out, messagePart{correctSpacing(message[end:]), false})
}

// separateWords formats a name of Nsight Compute: "MemoryL2Compression_Chart" as "Memory L2 Compression: Chart",
// "CPIStall" as "CPI Stall".
func separateWords(identifier string) string {
	var b strings.Builder
	letters := []rune(strings.ReplaceAll(identifier, "_", ": "))
	for i, r := range letters {
		if i > 0 && unicode.IsUpper(r) {
			before := letters[i-1]
			word := unicode.IsUpper(before) && i+1 < len(letters) && unicode.IsLower(letters[i+1])
			if unicode.IsLower(before) || unicode.IsDigit(before) || word {
				b.WriteByte(' ')
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}
