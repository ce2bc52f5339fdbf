package site

import (
	"cmp"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"warpboard/web/conns"
)

// Limits limits the resources of this process that clients can occupy. A zero field means its default. Fields that end
// in "Each" apply to one address or person. The addresses of trusted proxies have no limit of their own; their clients'
// addresses have.
type Limits struct {
	Connections, ConnectionsEach int // open connections; default: the system's limit minus a reserve
	Requests, RequestsEach       int // concurrent requests
	// SlowRequests and SlowRequestsEach limit requests that wait for an event or send a body slowly. People and
	// visitors are counted separately.
	SlowRequests, SlowRequestsEach int
	// Streams and StreamsEach limit open live streams. Those of people, visitors, and workers are counted separately.
	Streams, StreamsEach                   int
	BodyBytes, BodyBytesEach               int // bytes of bodies being received from identified senders
	VisitorBodyBytes, VisitorBodyBytesEach int // bytes of bodies being received from other senders

	HeadTime     time.Duration // time to receive the head of a request
	MaxBodyPause time.Duration // longest pause in a body
	BodyTime     time.Duration // time to receive a whole body
	AnswerTime   time.Duration // time to send an answer
	// time after which the response to a waiting evaluation begins, see web/evalapi/late.go
	FirstByteDelay time.Duration
}

const (
	minReservedDescriptors = 96      // descriptors reserved for database, queue, and a run's pipes
	maxConnections         = 1 << 15 // an idle connection takes a few kilobytes of memory
	// MaxVisitorBodyBytes limits the body of an unidentified sender, in bytes. Forms are small.
	MaxVisitorBodyBytes = 64 << 10
)

func (l Limits) withDefaults(nofile int) Limits {
	set := func(field *int, standard int) { *field = cmp.Or(*field, standard) }
	set(&l.Connections, connectionsFor(nofile))
	set(&l.ConnectionsEach, min(512, max(l.Connections/4, 1)))
	set(&l.Requests, 4096)
	set(&l.RequestsEach, 256)
	set(&l.SlowRequests, max(l.Requests/8, 1)) // four resources have this limit, each separately
	set(&l.SlowRequestsEach, max(l.RequestsEach/4, 1))
	set(&l.Streams, min(20000, max(l.Connections*3/4, 1)))
	set(&l.StreamsEach, min(256, max(l.ConnectionsEach*3/4, 1)))
	set(&l.BodyBytes, 256<<20)
	set(&l.BodyBytesEach, 64<<20)
	set(&l.VisitorBodyBytes, 16<<20)
	set(&l.VisitorBodyBytesEach, 13<<20)
	l.HeadTime = cmp.Or(l.HeadTime, 15*time.Second)
	l.MaxBodyPause = cmp.Or(l.MaxBodyPause, 15*time.Second)
	l.BodyTime = cmp.Or(l.BodyTime, 2*time.Minute)
	l.AnswerTime = cmp.Or(l.AnswerTime, 2*time.Minute)
	l.FirstByteDelay = cmp.Or(l.FirstByteDelay, 40*time.Second)
	return l
}

// Resources of this process that clients occupy. Visitors have separate limits (see VisitorResource), so that they
// cannot use up those of people.
const (
	RequestsResource          conns.Resource = "requests"
	WaitRequestsResource      conns.Resource = "held"    // requests with ?wait=, which do not count in RequestsResource
	WaitingResource           conns.Resource = "waiting" // requests that wait for an event now
	UploadsResource           conns.Resource = "uploads"
	BodiesResource            conns.Resource = "bodies" // bytes of bodies that are being received
	streamsResource           conns.Resource = "streams"
	workerConnectionsResource conns.Resource = "workers" // connections of workers
)

// VisitorResource returns the resource that counts the same use by visitors who have not signed in.
func VisitorResource(of conns.Resource) conns.Resource { return "strangers' " + of }

func (s *Site) setLimits() {
	l := s.Settings.Limits.withDefaults(maxFileDescriptors())
	s.Settings.Limits, s.waitPermits = l, make(chan struct{}, runtime.GOMAXPROCS(0))
	few := func(most, each int, usedUp, full string) conns.ResourceLimit {
		return conns.ResourceLimit{
			Total:          most,
			PerSender:      each,
			ErrSenderLimit: TooMany(usedUp, TemporaryRetryAfter),
			ErrTotalLimit:  BusyError(full),
		}
	}
	slow := func(doing string) conns.ResourceLimit {
		return few(l.SlowRequests, l.SlowRequestsEach, fmt.Sprintf("Too many of your requests %s at once. Try again in a moment.", doing),
			fmt.Sprintf("Too many requests %s just now. Try again in a moment.", doing))
	}
	requests := few(l.Requests, l.RequestsEach, "Too many requests from your address at once. Try again in a moment.",
		"The site is overloaded. Try again in a moment.")
	held := requests
	held.Total = 4 * l.SlowRequests
	bodies := few(l.BodyBytes, l.BodyBytesEach, "Too many requests with large bodies from your address. Try again in a moment.",
		"Too many requests with large bodies. Try again in a moment.")
	small := bodies
	small.Total, small.PerSender = l.VisitorBodyBytes, l.VisitorBodyBytesEach
	live := conns.ResourceLimit{Total: l.Streams, PerSender: l.StreamsEach,
		ErrSenderLimit: TooMany("Too many of your live connections. Close some of them.", time.Minute),
		ErrTotalLimit:  TooMany("Too many live connections. Try again in a minute.", time.Minute)}
	s.Limiter = conns.NewLimiter(map[conns.Resource]conns.ResourceLimit{
		conns.ConnectionsResource: few(l.Connections, l.ConnectionsEach, "Too many connections.",
			"Too many connections."),
		RequestsResource: requests, WaitRequestsResource: held, workerConnectionsResource: live,
		streamsResource: live, VisitorResource(streamsResource): live,
		WaitingResource: slow("wait"), VisitorResource(WaitingResource): slow("wait"),
		UploadsResource: slow("send something"), VisitorResource(UploadsResource): slow("send something"),
		BodiesResource: bodies, VisitorResource(BodiesResource): small,
	})
}

// connectionsFor returns the number of connections for a process that may have nofile open files. It reserves a part
// for other files.
func connectionsFor(nofile int) int {
	return min(max(nofile-max(minReservedDescriptors, nofile/4), 8), maxConnections)
}

// maxFileDescriptors returns the maximum number of open file descriptors of this process, which Go sets to the hard
// limit.
func maxFileDescriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<20))
}
