package pools

import (
	"bytes"

	"warpboard/models/db"
)

// Key is equal for equal sources: it sees no line endings, no blanks that end a line, no blank lines and no byte order
// mark. Comments count: to tell them from text needs the lexer of each language, which knows macros, raw strings and
// sources inside of strings, and a name that is changed makes another source just as well.
func Key(source []byte) string {
	source = bytes.TrimPrefix(source, []byte("\uFEFF"))
	source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))
	source = bytes.ReplaceAll(source, []byte("\r"), []byte("\n"))
	var kept []byte
	for line := range bytes.SplitSeq(source, []byte("\n")) {
		if line = bytes.TrimRight(line, " \t\f\v"); len(line) > 0 {
			kept = append(append(kept, line...), '\n')
		}
	}
	return db.Hash(kept)
}
