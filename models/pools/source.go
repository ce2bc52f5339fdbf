package pools

import (
	"bytes"

	"warpboard/models/db"
	"warpboard/tasks"
)

// Key is equal for equal sources: it sees no line endings, no blanks that end a line, no blank lines and no byte order
// mark. Comments count: to tell them from text needs the lexer of each language, which knows macros, raw strings and
// sources inside of strings, and a name that is changed makes another source just as well. Of several files each
// counts, with its name.
func Key(s tasks.Submission) string {
	plain := tasks.Submission{Source: normalised(s.Source), Files: make(map[string][]byte, len(s.Files))}
	for name, text := range s.Files {
		plain.Files[name] = normalised(text)
	}
	return db.Hash(plain.Pack())
}

func normalised(source []byte) []byte {
	source = bytes.TrimPrefix(source, []byte("\uFEFF"))
	source = bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n"))
	source = bytes.ReplaceAll(source, []byte("\r"), []byte("\n"))
	var kept []byte
	for line := range bytes.SplitSeq(source, []byte("\n")) {
		if line = bytes.TrimRight(line, " \t\f\v"); len(line) > 0 {
			kept = append(append(kept, line...), '\n')
		}
	}
	return kept
}
