package importing

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"warpboard/tasks/parse"
)

var (
	// assignmentPattern matches a line of Python that assigns whole numbers, or tuples and products of whole numbers,
	// to names.
	assignmentPattern = regexp.MustCompile(`(?m)^([ \t]*(?:[A-Za-z_]\w*(?:,[ \t]*[A-Za-z_]\w*)*[ \t]*=[ \t]*)+)` +
		`([-+*/(), \[\]\d_]*\d[-+*/(), \[\]\d_]*?)([ \t]*(?:#.*)?)$`)
	wholeNumberPattern = regexp.MustCompile(`\d[\d_]*`)
)

// halveSizes halves the numbers that a Python source assigns to names until they are at most largest. It returns the
// new source and a sentence for each change. If largest is 0, nothing changes.
func halveSizes(text string, largest int) (smaller string, changes []string) {
	if largest < 1 {
		return text, nil
	}
	smaller = assignmentPattern.ReplaceAllStringFunc(text, func(line string) string {
		parts := assignmentPattern.FindStringSubmatch(line)
		value := reduceNumbers(parts[2], largest)
		if value == parts[2] {
			return line
		}
		names := strings.TrimSpace(parts[1])
		changes = append(changes, fmt.Sprintf("%s %s instead of %s", names, value, strings.TrimSpace(parts[2])))
		return parts[1] + value + parts[3]
	})
	return smaller, changes
}

// reduceOutsideMatches applies halveSizes to the parts of a text that the pattern kept does not match.
func reduceOutsideMatches(kept *regexp.Regexp, text string, largest int) (smaller string, changes []string) {
	end := 0
	for _, at := range append(kept.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		part, changed := halveSizes(text[end:at[0]], largest)
		smaller, changes, end = smaller+part+text[at[0]:at[1]], append(changes, changed...), at[1]
	}
	return smaller, changes
}

// reduceNumbers returns an expression, tuple, or list with each number above largest halved until it is at most
// largest.
func reduceNumbers(text string, largest int) string {
	if !strings.ContainsAny(text, ",[]") {
		expression, err := parse.ParseArithmetic(strings.ReplaceAll(text, "_", ""))
		if err != nil {
			return text
		}
		value, err := expression(func(name string) (float64, error) { return 0, fmt.Errorf("%s is no number", name) })
		if err != nil || value != float64(int64(value)) || value <= float64(largest) {
			return text
		}
		return strconv.Itoa(halveUntilAtMost(int(value), largest))
	}
	return wholeNumberPattern.ReplaceAllStringFunc(text, func(digits string) string {
		value, err := strconv.Atoi(strings.ReplaceAll(digits, "_", ""))
		if err != nil || value <= largest {
			return digits
		}
		return strconv.Itoa(halveUntilAtMost(value, largest))
	})
}

// halveUntilAtMost halves a size until it is at most largest, so that a size that divided it may still do so. If the
// size becomes odd before, it returns the largest power of two that is at most largest.
func halveUntilAtMost(size, largest int) int {
	for size > largest && size%2 == 0 {
		size /= 2
	}
	if size <= largest {
		return size
	}
	power := 1
	for 2*power <= largest {
		power *= 2
	}
	return power
}
