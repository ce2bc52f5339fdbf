package web_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

const openStreams = 1000

// BenchmarkStreams announces events to 1,000 open pages of the same submission. It reports the time from the
// announcement until each page receives the event, and the server's memory per open stream.
func BenchmarkStreams(b *testing.B) {
	s := webtest.NewStage(b)
	run := modelstest.Submit(b, s.Cfg.Store, s.User, s.Task)[0]
	id := storedIDs(b, s.Cfg.Store, run.SubmissionID)[0]
	path := fmt.Sprintf("/submissions/%d/events?after=%d", run.SubmissionID, id)

	before := memory()
	readers := make([]net.Conn, openStreams)
	for i := range readers {
		readers[i] = openRaw(b, s.Cfg.Settings.Addr, path)
	}
	for s.Cfg.Hub.StreamCount() < openStreams {
		time.Sleep(time.Millisecond)
	}
	perStream := float64(memory()-before) / openStreams

	var announced time.Time
	var arrived sync.WaitGroup
	took := make([][]time.Duration, openStreams)
	for i, conn := range readers {
		go func() {
			lines := bufio.NewReader(conn)
			for {
				line, err := lines.ReadSlice('\n')
				if err != nil {
					return
				}
				if bytes.HasPrefix(line, []byte("id: ")) {
					took[i] = append(took[i], time.Since(announced))
					arrived.Done()
				}
			}
		}()
	}
	for b.Loop() {
		id++
		arrived.Add(openStreams)
		announced = time.Now()
		s.Cfg.Hub.RunEvent(work.RunEvent{
			ID: id, SubmissionID: run.SubmissionID, RunID: run.ID, Type: job.EventAttemptStarted, State: work.StateBuilding,
		})
		arrived.Wait()
	}
	all := slices.Concat(took...)
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(perStream/1024, "KiB/stream")
	b.ReportMetric(openStreams, "streams")
}

// openRaw opens a stream on a plain TCP connection, because an HTTP client would need memory, and reads the status
// line.
func openRaw(b *testing.B, addr, path string) net.Conn {
	b.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, addr)
	head := make([]byte, 12)
	if _, err := conn.Read(head); err != nil || string(head[9:]) != fmt.Sprint(http.StatusOK) {
		b.Fatalf("the stream began with %q, %v", head, err)
	}
	return conn
}

// memory returns the bytes of heap and stacks after a garbage collection.
func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
