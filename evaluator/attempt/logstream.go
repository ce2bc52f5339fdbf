package attempt

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"warpboard/evaluator/job"
)

const (
	// maxLogEventBytes limits one log event, and maxLogBytes the output that is shown live for one stream of one stage,
	// both in bytes. The result contains more, with a note about what was cut.
	maxLogEventBytes = 4 << 10
	maxLogBytes      = 128 << 10
	// logBatchDelay is the time for which small pieces of output are collected into one event.
	logBatchDelay = 100 * time.Millisecond

	logTruncatedNote = "\n[the rest of this output is not shown live]\n"
)

// StageLog forwards the two output streams of a stage.
type StageLog struct{ stdout, stderr *logStream }

// Write adds output of a stream, "stdout" or "stderr".
func (l *StageLog) Write(stream string, b []byte) {
	if stream == "stderr" {
		l.stderr.write(b)
		return
	}
	l.stdout.write(b)
}

// Close sends the remaining output.
func (l *StageLog) Close() {
	l.stdout.close()
	l.stderr.close()
}

// logStream collects output into few pieces of valid UTF-8, up to a limit.
type logStream struct {
	sendText func(text string)

	mu            sync.Mutex
	pendingOutput []byte
	bytesLeft     int
	flushTimer    *time.Timer // timer for flush, which runs while pendingOutput is not empty
}

func newLogStream(send func(text string)) *logStream {
	return &logStream{sendText: send, bytesLeft: maxLogBytes}
}

func (l *logStream) write(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytesLeft == 0 || len(b) == 0 {
		return
	}
	b = b[:min(len(b), l.bytesLeft)]
	l.bytesLeft -= len(b)
	l.pendingOutput = append(l.pendingOutput, b...)
	for len(l.pendingOutput) >= maxLogEventBytes {
		l.sendPrefix(maxLogEventBytes)
	}
	if l.bytesLeft == 0 {
		l.flush(true)
		l.sendText(logTruncatedNote)
		return
	}
	if len(l.pendingOutput) > 0 && l.flushTimer == nil {
		l.flushTimer = time.AfterFunc(logBatchDelay, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.flush(false)
		})
	}
}

func (l *logStream) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush(true)
	l.bytesLeft = 0
}

// flush sends the collected output. An incomplete character at its end is kept until its other bytes arrive, unless
// last is set.
func (l *logStream) flush(last bool) {
	if l.flushTimer != nil {
		l.flushTimer.Stop()
		l.flushTimer = nil
	}
	if len(l.pendingOutput) > 0 {
		l.sendPrefix(len(l.pendingOutput))
	}
	if last && len(l.pendingOutput) > 0 {
		l.sendText("\uFFFD")
		l.pendingOutput = nil
	}
}

// sendPrefix sends the first n bytes of the collected output, except an incomplete character at their end.
func (l *logStream) sendPrefix(n int) {
	for back := 1; back < utf8.UTFMax && back <= n; back++ {
		if b := l.pendingOutput[n-back]; utf8.RuneStart(b) {
			if !utf8.FullRune(l.pendingOutput[n-back:]) || !utf8.FullRune(l.pendingOutput[n-back:n]) {
				n -= back
			}
			break
		}
	}
	if n > 0 {
		l.sendText(job.MarkBidiControls(strings.ToValidUTF8(string(l.pendingOutput[:n]), "\uFFFD")))
		l.pendingOutput = append([]byte(nil), l.pendingOutput[n:]...)
	}
}
