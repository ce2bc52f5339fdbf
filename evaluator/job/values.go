package job

import (
	"bytes"
	"fmt"
)

// MaxValues limits the JSON values of a worker's message. A result of 10,000 cases has about 100,000.
const MaxValues = 1 << 18

// CheckValueCount refuses a message of more than MaxValues values before it is decoded. The checks of Check come too
// late to limit memory: "{}," is three bytes, and a decoded StageResult takes hundreds.
func CheckValueCount(data []byte) error {
	if ExceedsValues(data, MaxValues-1) { // no separator precedes the first value
		return fmt.Errorf("it has more than %d values", MaxValues)
	}
	return nil
}

// ExceedsValues reports whether a JSON text has more than most values, counted by the comma, bracket, or brace before
// each of them.
func ExceedsValues(body []byte, most int) bool {
	for n := 0; ; n++ {
		at := bytes.IndexAny(body, `,{["`)
		switch {
		case n > most:
			return true
		case at < 0:
			return false
		case body[at] == '"':
			n--
			at += quotedLength(body[at+1:]) + 1
		}
		body = body[min(at+1, len(body)):]
	}
}

// quotedLength returns the length of a JSON string up to its closing quote.
func quotedLength(rest []byte) int {
	for at := 0; ; {
		next := bytes.IndexAny(rest[at:], `"\`)
		switch {
		case next < 0:
			return len(rest)
		case rest[at+next] == '"':
			return at + next
		}
		at = min(at+next+2, len(rest)) // an escaped quote does not end the string
	}
}
