package attempt

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"warpboard/e2e/fuzztest"
	"warpboard/evaluator/job"
)

// pieces collects the pieces that a log stream sends.
type pieces struct {
	mu  sync.Mutex
	got []string
}

func (p *pieces) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, text)
}

func (p *pieces) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.got, "")
}

func TestLogIsGatheredIntoFewPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pieces{}
		l := newLogStream(p.add)
		want := strings.Repeat("x", 2*maxLogEventBytes+100)
		for _, c := range []byte(want) {
			l.write([]byte{c})
		}
		l.close()
		if p.all() != want || len(p.got) != 3 {
			t.Errorf("%d pieces, %d bytes, want %d", len(p.got), len(p.all()), len(want))
		}
	})
}

func TestLogThatPausesIsSentWithoutMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pieces{}
		l := newLogStream(p.add)
		l.write([]byte("waiting for input: é"[:20]))
		time.Sleep(2 * logBatchDelay)
		if got := p.all(); got != "waiting for input: " {
			t.Errorf("sent %q", got)
		}
		l.write([]byte("é"[1:]))
		l.close()
		if got := p.all(); got != "waiting for input: é" {
			t.Errorf("sent %q", got)
		}
	})
}

func TestLogPiecesAreWholeCharactersWhateverComesIn(t *testing.T) {
	for _, in := range []string{
		strings.Repeat("é", 5000), strings.Repeat("世", 5000), strings.Repeat("😀", 5000),
		"x" + strings.Repeat("😀", 5000), strings.Repeat("\xff", 10_000), strings.Repeat("\x80", 10_000),
		strings.Repeat("\xf0\x9f", 5000), "\xe4",
	} {
		for _, step := range []int{1, 7, maxLogEventBytes, len(in)} {
			p := &pieces{}
			l := newLogStream(p.add)
			for i := 0; i < len(in); i += step {
				l.write([]byte(in[i:min(i+step, len(in))]))
			}
			l.close()
			for _, piece := range p.got {
				if !utf8.ValidString(piece) || len(piece) > 3*maxLogEventBytes {
					t.Fatalf("%.8q by %d: piece of %d bytes", in, step, len(piece))
				}
			}
			if utf8.ValidString(in) && p.all() != in {
				t.Errorf("%.8q by %d: text changed", in, step)
			}
			if len(p.all()) == 0 {
				t.Errorf("%.8q by %d: nothing was sent", in, step)
			}
		}
	}
}

func TestLogEndsAtItsBudgetWithANote(t *testing.T) {
	p := &pieces{}
	l := newLogStream(p.add)
	for range 4 * maxLogBytes / 1000 {
		l.write(make([]byte, 1000))
	}
	l.close()
	got := p.all()
	if len(got) != maxLogBytes+len(logTruncatedNote) || !strings.HasSuffix(got, logTruncatedNote) || strings.Count(got, logTruncatedNote) != 1 {
		t.Errorf("%d bytes were sent, ending in %q", len(got), got[max(0, len(got)-100):])
	}
}

func FuzzLogStream(f *testing.F) {
	fuzztest.Moment(f)
	f.Add([]byte("plain text\n"), 3)
	f.Add([]byte("\xf0\x9f\x98\x80\xf0\x9f"), 1)
	f.Add([]byte("\xe4\xb8\xff\x80"), 2)
	f.Fuzz(func(t *testing.T, in []byte, step int) {
		step = max(1, step)
		p := &pieces{}
		l := newLogStream(p.add)
		for i := 0; i < len(in); i += step {
			l.write(in[i:min(i+step, len(in))])
		}
		l.close()
		if got := p.all(); !utf8.ValidString(got) || utf8.Valid(in) && got != job.MarkBidiControls(string(in)) {
			t.Errorf("%q became %q", in, got)
		}
	})
}
