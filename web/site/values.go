package site

import "bytes"

// MostValues is how many values, keys included, the JSON of one request may have where nothing says otherwise: each takes
// far more memory and time than its text.
const MostValues = 1 << 12

// mostFields is how many fields a form may have.
const mostFields = 1 << 12

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
