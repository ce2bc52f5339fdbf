package site

import (
	"cmp"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"warpboard/web/conns"
)

// Limits limits the resources of this process that clients can occupy. A zero field means its default. "Each" fields
// apply to one address or person. Addresses of trusted proxies are not counted, but the addresses that they forward
// are.
type Limits struct {
	Connections, ConnectionsEach int // open connections; default: the system's limit minus a reserve
	Requests, RequestsEach       int // concurrent requests
	// Slow and SlowEach limit requests that wait for an event or send a body slowly. People and visitors are counted
	// separately.
	Slow, SlowEach int
	// Streams and StreamsEach limit open live streams. Those of people, visitors, and workers are counted separately.
	Streams, StreamsEach     int
	Bodies, BodiesEach       int // bytes of bodies being received from identified senders
	Strangers, StrangersEach int // bytes of bodies being received from other senders

	Head      time.Duration // time to receive the head of a request
	Pause     time.Duration // longest pause in a body
	Body      time.Duration // time to receive a whole body
	Answer    time.Duration // time to send an answer
	KeepAlive time.Duration // time after which a waiting evaluation gets the first byte, see eval_late.go
}

const (
	minReservedDescriptors = 96      // descriptors reserved for database, queue, and a run's pipes
	maxConnections         = 1 << 15 // an idle one costs some kilobytes
	// MaxVisitorBody limits the body of an unidentified sender, in bytes. Forms are small.
	MaxVisitorBody = 64 << 10
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

// Resources of this process that clients occupy. Visitors have separate limits (see ForVisitors), so that they cannot
// use up those of people.
const (
	Requests conns.Resource = "requests"
	Held     conns.Resource = "held" // requests that ask to wait; they do not count as requests
	Waiting  conns.Resource = "waiting"
	Uploads  conns.Resource = "uploads"
	Bodies   conns.Resource = "bodies" // bytes of them
	streams  conns.Resource = "streams"
	workers  conns.Resource = "workers" // connections of workers
)

// ForVisitors returns the resource that counts the same use by visitors who have not signed in.
func ForVisitors(of conns.Resource) conns.Resource { return "strangers' " + of }

func (s *Site) setLimits() {
	l := s.Settings.Limits.withDefaults(descriptors())
	s.Settings.Limits, s.waitTokens = l, make(chan struct{}, runtime.GOMAXPROCS(0))
	few := func(most, each int, usedUp, full string) conns.ResourceLimit {
		return conns.ResourceLimit{
			Max:            most,
			Each:           each,
			ErrSenderLimit: TooMany(usedUp, RetrySoon),
			ErrTotalLimit:  Busy(full),
		}
	}
	slow := func(doing string) conns.ResourceLimit {
		return few(l.Slow, l.SlowEach, fmt.Sprintf("Too many of your requests %s at once. Try again in a moment.", doing),
			fmt.Sprintf("Too many requests %s just now. Try again in a moment.", doing))
	}
	requests := few(l.Requests, l.RequestsEach, "Too many requests from your address at once. Try again in a moment.",
		"The site is overloaded. Try again in a moment.")
	held := requests
	held.Max = 4 * l.Slow
	bodies := few(l.Bodies, l.BodiesEach, "Too many requests with large bodies from your address. Try again in a moment.",
		"Too many requests with large bodies. Try again in a moment.")
	small := bodies
	small.Max, small.Each = l.Strangers, l.StrangersEach
	live := conns.ResourceLimit{Max: l.Streams, Each: l.StreamsEach,
		ErrSenderLimit: TooMany("Too many of your live connections. Close some of them.", time.Minute),
		ErrTotalLimit:  TooMany("Too many live connections. Try again in a minute.", time.Minute)}
	s.Limiter = conns.NewLimiter(map[conns.Resource]conns.ResourceLimit{
		conns.Connections: few(l.Connections, l.ConnectionsEach, "Too many connections.", "Too many connections."),
		Requests:          requests, Held: held, workers: live,
		streams: live, ForVisitors(streams): live,
		Waiting: slow("wait"), ForVisitors(Waiting): slow("wait"),
		Uploads: slow("send something"), ForVisitors(Uploads): slow("send something"),
		Bodies: bodies, ForVisitors(Bodies): small,
	})
}

// connectionsFor returns the number of connections for which a process with this limit of file descriptors has room
// besides its files.
func connectionsFor(nofile int) int {
	return min(max(nofile-max(minReservedDescriptors, nofile/4), 8), maxConnections)
}

// descriptors returns the maximum number of open file descriptors of this process, which Go sets to the hard limit.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<20))
}
