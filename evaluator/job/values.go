package job

import (
	"bytes"
	"fmt"
)

// MaxValues is how many JSON values a worker's message may have. A result of 10,000 cases has some 100,000.
const MaxValues = 1 << 18

// CheckValues refuses a message of more than MaxValues values before it is decoded. The bounds of Check come too late for
// memory: "{}," is three bytes, and a stage of a result that is read from it hundreds.
func CheckValues(data []byte) error {
	if HasMoreValues(data, MaxValues-1) { // the first value has nothing before it that is counted
		return fmt.Errorf("it has more than %d values", MaxValues)
	}
	return nil
}

// HasMoreValues reports whether a JSON text has more values than that, counted by what stands before them: a comma, or
// the beginning of an object or a list.
func HasMoreValues(body []byte, most int) bool {
	for n := 0; ; n++ {
		at := bytes.IndexAny(body, `,{["`)
		switch {
		case n > most:
			return true
		case at < 0:
			return false
		case body[at] == '"':
			n--
			at += textLength(body[at+1:]) + 1
		}
		body = body[min(at+1, len(body)):]
	}
}

// textLength is how long a JSON text is until the quote that ends it.
func textLength(rest []byte) int {
	for at := 0; ; {
		next := bytes.IndexAny(rest[at:], `"\`)
		switch {
		case next < 0:
			return len(rest)
		case rest[at+next] == '"':
			return at + next
		}
		at = min(at+next+2, len(rest)) // what a backslash escapes ends nothing
	}
}
