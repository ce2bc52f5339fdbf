package models

import (
	"context"
	"fmt"
	"time"
)

// fairQueue is the one order of the queue. A device takes first what already lies in its queue;
// then one run of each person in turn, counting those of theirs that are running; of two people
// whose turn it is, the one who has waited longer. A profile that follows a ranked run waits until
// nobody else does, and is nobody's turn. The dispatcher and the pages both read it.
const fairQueue = `
	select id as run_id, submission_id, user_id, device, sent, follows, not_before,
		row_number() over (partition by device order by sent desc, sent_at, follows, turn, id) as place
	from (
		select id, submission_id, user_id, device, state, not_before, dispatched_at as sent_at,
			case when attempt_id <> '' then 1 else 0 end as sent,
			case when profile_of is null then 0 else 1 end as follows,
			row_number() over (partition by device, user_id, case when profile_of is null then 0 else 1 end
				order by case when state <> 'queued' then 0 when attempt_id <> '' then 1 else 2 end, id) as turn
		from runs where ` + liveRun + `
	) live where state = 'queued'`

// QueuedRun is a run that waits, with its place in its device's queue.
type QueuedRun struct {
	RunID        int64
	SubmissionID int64
	UserID       int64
	Device       string
	Sent         int // 1: its job lies in the queue already
	Follows      int // 1: a profile that follows a ranked run
	Place        int // 1: next
}

// Queue lists all runs that wait, by device and place.
func (s *Store) Queue(ctx context.Context) ([]QueuedRun, error) {
	var list []QueuedRun
	err := s.read(ctx).Raw("select * from (" + fairQueue + ") q order by device, place").Scan(&list).Error
	return list, lookup(err, "the queue")
}

// NextRuns lists the first limit runs that wait for a device, have no job in the queue yet and may begin
// at a time: those that lost an attempt keep their place, and let others pass while they pause.
func (s *Store) NextRuns(ctx context.Context, device string, limit int, at time.Time) ([]QueuedRun, error) {
	var list []QueuedRun
	err := s.read(ctx).Raw("select * from ("+fairQueue+") q where device = ? and sent = 0 and (not_before is null or not_before <= ?)"+
		" order by place limit ?", device, stored(at), limit).
		Scan(&list).Error
	return list, lookup(err, "the queue of %s", device)
}

// Places gives the place in the queue of each of a submission's waiting runs, by run id.
func (s *Store) Places(ctx context.Context, submissionID int64) (map[int64]int, error) {
	var list []QueuedRun
	err := s.read(ctx).Raw("select * from ("+fairQueue+") q where submission_id = ?", submissionID).Scan(&list).Error
	if err != nil {
		return nil, fmt.Errorf("reading places in the queue: %w", err)
	}
	places := make(map[int64]int, len(list))
	for _, q := range list {
		places[q.RunID] = q.Place
	}
	return places, nil
}

// QueueLength counts a device's live runs.
type QueueLength struct {
	Device  string
	Waiting int
	Running int
}

// QueueLengths lists the devices that have live runs.
func (s *Store) QueueLengths(ctx context.Context) ([]QueueLength, error) {
	var list []QueueLength
	err := s.read(ctx).Raw(`select device, sum(case when state = 'queued' then 1 else 0 end) as waiting,
		sum(case when state <> 'queued' then 1 else 0 end) as running
		from runs where ` + liveRun + ` group by device order by device`).Scan(&list).Error
	return list, lookup(err, "the queue's lengths")
}
