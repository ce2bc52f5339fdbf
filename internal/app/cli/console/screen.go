package console

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"golang.org/x/term"

	"warpboard/models/work"
	"warpboard/views/format"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f := fileOfWriter(w)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// Screen prints for people: colors and a status line on a terminal, plain lines in a pipe. It has no lock: a caller
// that prints from several goroutines needs one (watcher.mu). The width is read once, at the start.
type Screen struct {
	Out        io.Writer
	IsTerminal bool
	Width      int
	usesColor  bool
	StatusLine string // last line on a terminal, set by SetStatus
}

// NewScreen returns a Screen for the standard output. NO_COLOR (with any value) and TERM=dumb switch colors off.
func NewScreen(env Environment) *Screen {
	s := &Screen{Out: env.Stdout, IsTerminal: IsTerminal(env.Stdout), Width: 80}
	s.usesColor = s.IsTerminal && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"
	if s.IsTerminal {
		if width, _, err := term.GetSize(int(fileOfWriter(env.Stdout).Fd())); err == nil && width > 10 {
			s.Width = width
		}
	}
	return s
}

// RemoveControlCharacters removes characters that move the cursor of a terminal or change the direction of text,
// because sources, names, and outputs are untrusted. PrintLine, PrintState, PrintTable, and SetStatus apply it to all
// text from a site.
func RemoveControlCharacters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return '\uFFFD'
		}
		return r
	}, text)
}

// PrintLine prints one or more complete lines above the status line.
func (s *Screen) PrintLine(format string, args ...any) {
	s.eraseStatus()
	fmt.Fprint(s.Out, RemoveControlCharacters(strings.TrimRight(fmt.Sprintf(format, args...), " \n")), "\n")
	s.drawStatus()
}

// SetStatus changes the status line; without a terminal it does nothing.
func (s *Screen) SetStatus(text string) {
	if !s.IsTerminal || text == s.StatusLine {
		return
	}
	s.eraseStatus()
	s.StatusLine = text
	s.drawStatus()
}

func (s *Screen) eraseStatus() {
	if s.StatusLine != "" {
		fmt.Fprint(s.Out, "\r\x1b[K")
	}
}

func (s *Screen) drawStatus() {
	if s.StatusLine == "" {
		return
	}
	text := []rune(RemoveControlCharacters(strings.ReplaceAll(s.StatusLine, "\n", " ")))
	// Shortened to the width, because a wrapped line cannot be erased. Characters of double width may still wrap.
	fmt.Fprint(s.Out, string(text[:min(len(text), s.Width-1)]))
}

// colorState adds a color to the name of a state.
func (s *Screen) colorState(state string) string {
	colours := map[string]string{string(work.StateDone): "32", string(work.StateFailed): "31", string(work.StateCancelled): "33"}
	if c := colours[state]; c != "" && s.usesColor {
		return "\x1b[" + c + "m" + state + "\x1b[0m"
	}
	return state
}

// PrintState prints a line with a device, a colored state, and rest.
func (s *Screen) PrintState(device, state, rest string) {
	s.eraseStatus()
	fmt.Fprintf(s.Out, "%-6s %s%s\n", RemoveControlCharacters(device), s.colorState(RemoveControlCharacters(state)),
		RemoveControlCharacters(rest))
	s.drawStatus()
}

// PrintTable prints rows below a header.
func (s *Screen) PrintTable(head string, rows int, row func(int) []any) {
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	for i := range rows {
		var cells []string
		for _, cell := range row(i) {
			cells = append(cells, strings.ReplaceAll(RemoveControlCharacters(fmt.Sprint(cell)), "\t", " "))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	w.Flush()
}

// PrintJSON prints an answer of the API as JSON.
func PrintJSON(out io.Writer, answer any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(answer)
}

// Nanoseconds formats a time with a suitable unit, as pages do, but with a normal space.
func Nanoseconds(v float64) string {
	return strings.ReplaceAll(format.Nanoseconds(v).String(), "\u00a0", " ")
}
