package job

import (
	"bytes"
	"fmt"
)

// MaxJSONValues limits the JSON values of a worker's message. The result of a run with 10,000 cases has about 100,000.
const MaxJSONValues = 1 << 18

// CheckValueCount returns an error for a message with more than MaxJSONValues values, before it is decoded. The other
// checks come too late to limit memory: "{}," is three bytes, and the StageResult decoded from it has hundreds.
func CheckValueCount(data []byte) error {
	if ExceedsValueCount(data, MaxJSONValues-1) { // one more, because no separator precedes the first value
		return fmt.Errorf("it has more than %d values", MaxJSONValues)
	}
	return nil
}

// ExceedsValueCount reports whether a JSON text has more than limit values. It counts the comma, bracket, or brace
// before each value.
func ExceedsValueCount(body []byte, limit int) bool {
	for n := 0; ; n++ {
		at := bytes.IndexAny(body, `,{["`)
		switch {
		case n > limit:
			return true
		case at < 0:
			return false
		case body[at] == '"':
			n--
			at += closingQuoteIndex(body[at+1:]) + 1
		}
		body = body[min(at+1, len(body)):]
	}
}

// closingQuoteIndex returns the index of the closing quote of a JSON string.
func closingQuoteIndex(rest []byte) int {
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
