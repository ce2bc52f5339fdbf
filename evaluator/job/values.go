package job

import "fmt"

// MaxValues is how many JSON values a worker's message may have. A result of 10,000 cases has some 100,000.
const MaxValues = 1 << 18

// CheckValues refuses a message of more than MaxValues values before it is decoded. The bounds of Check come too late for
// memory: "{}," is three bytes, and a stage of a result that is read from it hundreds.
// It counts what begins a value, or another one, outside of strings. Texts that are not JSON are left to the decoder.
func CheckValues(data []byte) error {
	values, quoted := 1, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '[' || c == '{'):
			values++
		}
	}
	if values > MaxValues {
		return fmt.Errorf("it has %d values, at most %d are allowed", values, MaxValues)
	}
	return nil
}
