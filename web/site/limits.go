package site

import (
	"cmp"
	"runtime"
	"syscall"
	"time"

	"warpboard/web/conns"
)

// Limits bound what strangers can hold of this process. A zero field means its default. "Each" is for one
// address; addresses of trusted proxies have no share of their own, those that they name do.
type Limits struct {
	Connections, ConnectionsEach int // open; default: what the system allows, less a reserve
	Requests, RequestsEach       int // under way
	Slow, SlowEach               int // of them, those that wait for something, and those that send a body: each of people and of strangers; people have a share each
	Streams, StreamsEach         int // live streams open: of people, who have a share each, of strangers, and of workers
	Bodies, BodiesEach           int // bytes of bodies under way, of identified senders
	Strangers, StrangersEach     int // bytes of bodies under way, of those who have not

	Head      time.Duration // until the head of a request is there
	Pause     time.Duration // without a byte of a body
	Body      time.Duration // until a whole body is there
	Answer    time.Duration // until an answer is taken
	KeepAlive time.Duration // of a waiting evaluation: then the first byte is sent, see eval_late.go
}

const (
	smallestReserve = 96      // descriptors kept from visitors: database, queue, a run's pipes
	mostConnections = 1 << 15 // an idle one costs some kilobytes
	// StrangerBody is the largest body of an unidentified sender: forms are small.
	StrangerBody = 64 << 10
)

func (l Limits) withDefaults(nofile int) Limits {
	set := func(field *int, standard int) { *field = cmp.Or(*field, standard) }
	set(&l.Connections, connectionsFor(nofile))
	set(&l.ConnectionsEach, min(512, max(l.Connections/4, 1)))
	set(&l.Requests, 4096)
	set(&l.RequestsEach, 256)
	set(&l.Slow, max(l.Requests/8, 1)) // four times
	set(&l.SlowEach, max(l.RequestsEach/4, 1))
	set(&l.Streams, min(20000, max(l.Connections*3/4, 1)))
	set(&l.StreamsEach, min(256, max(l.ConnectionsEach*3/4, 1)))
	set(&l.Bodies, 256<<20)
	set(&l.BodiesEach, 64<<20)
	set(&l.Strangers, 16<<20)
	set(&l.StrangersEach, 13<<20)
	l.Head = cmp.Or(l.Head, 15*time.Second)
	l.Pause = cmp.Or(l.Pause, 15*time.Second)
	l.Body = cmp.Or(l.Body, 2*time.Minute)
	l.Answer = cmp.Or(l.Answer, 2*time.Minute)
	l.KeepAlive = cmp.Or(l.KeepAlive, 40*time.Second)
	return l
}

func (s *Site) setLimits() {
	l := s.Settings.Limits.withDefaults(descriptors())
	s.Settings.Limits = l
	s.Connected = conns.NewTally(l.Connections, l.ConnectionsEach)
	s.UnderWay = conns.NewTally(l.Requests, l.RequestsEach)
	s.Held, s.turns = conns.NewTally(4*l.Slow, l.RequestsEach), make(chan struct{}, runtime.GOMAXPROCS(0))
	s.streaming, s.working = newPool(l.Streams, l.StreamsEach), conns.NewTally(l.Streams, l.StreamsEach)
	s.Waiting, s.Uploading = newPool(l.Slow, l.SlowEach), newPool(l.Slow, l.SlowEach)
	s.bodyBytes, s.StrangerBytes = conns.NewTally(l.Bodies, l.BodiesEach), conns.NewTally(l.Strangers, l.StrangersEach)
}

// connectionsFor is how many connections fit beside all else that needs descriptors.
func connectionsFor(nofile int) int {
	return min(max(nofile-max(smallestReserve, nofile/4), 8), mostConnections)
}

// descriptors is how many files this process may have open. Go has raised it to the hard limit at start.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<20))
}
