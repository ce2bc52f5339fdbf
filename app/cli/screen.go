package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"golang.org/x/term"

	"warpboard/models/work"
)

func termIs(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// screen prints for people: on a terminal with colours and a line that changes, in a pipe plain lines.
// It has no lock: whoever prints from several goroutines has one (watcher.mu). The width is that of the start.
type screen struct {
	w        io.Writer
	terminal bool
	color    bool
	status   string // the line that stands below all others on a terminal
	width    int
}

// newScreen prints on the standard output. NO_COLOR (whatever its value) and TERM=dumb switch colours off.
func newScreen(env Environment) *screen {
	s := &screen{w: env.Stdout, terminal: isTerminal(env.Stdout), width: 80}
	s.color = s.terminal && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"
	if f, ok := env.Stdout.(*os.File); ok && s.terminal {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 10 {
			s.width = width
		}
	}
	return s
}

// clean takes out what moves a terminal's cursor or turns its text: sources, names and outputs are of strangers.
// Everything that a site says goes through it before it reaches a terminal: line, painted, table and the status call it.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return '\uFFFD'
		}
		return r
	}, text)
}

// line prints one or more whole lines above the status.
func (s *screen) line(format string, args ...any) {
	s.wipe()
	fmt.Fprint(s.w, clean(strings.TrimRight(fmt.Sprintf(format, args...), " \n")), "\n")
	s.draw()
}

// setStatus changes the line that stands below all others; in a pipe there is none.
func (s *screen) setStatus(text string) {
	if !s.terminal || text == s.status {
		return
	}
	s.wipe()
	s.status = text
	s.draw()
}

func (s *screen) wipe() {
	if s.status != "" {
		fmt.Fprint(s.w, "\r\x1b[K")
	}
}

func (s *screen) draw() {
	if s.status == "" {
		return
	}
	text := []rune(clean(strings.ReplaceAll(s.status, "\n", " ")))
	// Cut to the width, for a line that wraps cannot be wiped. Letters of double width may still wrap.
	fmt.Fprint(s.w, string(text[:min(len(text), s.width-1)]))
}

// paint colours the word of a state.
func (s *screen) paint(state string) string {
	colours := map[string]string{string(work.StateDone): "32", string(work.StateFailed): "31", string(work.StateCancelled): "33"}
	if c := colours[state]; c != "" && s.color {
		return "\x1b[" + c + "m" + state + "\x1b[0m"
	}
	return state
}

// painted prints a line that begins with a device and a coloured state.
func (s *screen) painted(device, state, rest string) {
	s.wipe()
	fmt.Fprintf(s.w, "%-6s %s%s\n", clean(device), s.paint(clean(state)), clean(rest))
	s.draw()
}

// table prints rows under a head of columns.
func (s *screen) table(head string, rows int, row func(int) []any) {
	w := tabwriter.NewWriter(s.w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	for i := range rows {
		var cells []string
		for _, cell := range row(i) {
			cells = append(cells, strings.ReplaceAll(clean(fmt.Sprint(cell)), "\t", " "))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	w.Flush()
}

// PrintJSON prints an answer as the API has it.
func PrintJSON(out io.Writer, answer any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(answer)
}

// ns shows nanoseconds as a duration, to the hundredth of a microsecond.
func ns(v float64) time.Duration { return time.Duration(v).Round(10 * time.Nanosecond) }
