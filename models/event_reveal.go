package models

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/events"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// PersonWithFrozenResults is a person with submissions in an event whose results are not revealed yet.
type PersonWithFrozenResults struct {
	UserID          int64
	UserName        string
	SubmissionCount int `gorm:"column:submissions"`
	UnfinishedRuns  int `gorm:"column:live"` // number of runs that have not ended
}

// PeopleWithFrozenResults lists the people whose results are not revealed yet.
func (s *Store) PeopleWithFrozenResults(ctx context.Context, eventID int64) ([]PersonWithFrozenResults, error) {
	return queryPeopleWithFrozenResults(s.db.Read(ctx), eventID)
}

// BestFrozenScore returns a person's best score on a board among results that are not revealed, or 0.
func (s *Store) BestFrozenScore(
	ctx context.Context, userID, versionID int64, device string,
) (ns float64, err error) {
	if userID == 0 {
		return 0, nil
	}
	err = s.db.Read(ctx).Table("runs r").Joins("join submissions s on s.id = r.submission_id and s.frozen_event <> 0").
		Where("r.user_id = ? and r.version_id = ? and r.device = ? and r.profile_of is null and r.mode = ? and r.state = ? and r.score_ns is not null",
			userID, versionID, device, job.ModeRanked, work.StateDone).Select("coalesce(min(r.score_ns), 0)").Scan(&ns).Error
	return ns, db.ReadError(err, "frozen results of person %d", userID)
}

func queryPeopleWithFrozenResults(tx *gorm.DB, eventID int64) (list []PersonWithFrozenResults, err error) {
	err = tx.Table("submissions s").Joins("join users u on u.id = s.user_id").Joins("join runs r on r.submission_id = s.id and r.profile_of is null").
		Select("s.user_id, u.name as user_name, count(distinct s.id) as submissions, count(case when r.ended_at is null then 1 end) as live").
		Where("s.frozen_event = ?", eventID).Group("s.user_id, u.name").Order("u.name, s.user_id").Scan(&list).Error
	return list, db.ReadError(err, "submissions that wait in event %d", eventID)
}

// RevealAllResults makes RevealResults publish all results.
const RevealAllResults = -1

// RevealResults publishes frozen results of an event: those of the lowest-ranked entrant, or all (RevealAllResults). It
// returns the entrant's name, or "" for all. After the last entrant the event counts as revealed. submissions is the
// number of waiting submissions that the page showed. If it differs, RevealResults returns Conflict, because another
// person has already revealed this entrant.
func (s *Store) RevealResults(
	ctx context.Context, actor accounts.User, slug string, submissions int,
) (name string, changes []boards.ChangedBoard, err error) {
	found, err := s.Events.Event(ctx, slug)
	if err != nil {
		return "", nil, err
	}
	order, err := s.readRevealOrder(ctx, found.Event)
	if err != nil {
		return "", nil, err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		e, err := events.RevealableEvent(tx, actor, found.ID)
		if err != nil {
			return err
		}
		list, err := queryPeopleWithFrozenResults(tx, e.ID)
		if err != nil {
			return err
		}
		wait := 0
		for _, w := range list {
			wait += w.SubmissionCount
		}
		now, entrant := list, events.Entrant{}
		switch {
		case submissions == RevealAllResults:
		case submissions != wait:
			return db.Errorf(db.Conflict, "Now %d submissions wait, and the page that you sent showed %d: the next result was revealed already. Reload the page.", wait, submissions)
		case len(list) > 0:
			now, entrant = order.lowestRankedUnrevealed(list)
		}
		name = entrant.Name
		if changes, err = s.releaseSubmissions(tx, e.ID, now); err != nil {
			return err
		}
		if len(now) == len(list) {
			if err := events.MarkAllRevealed(tx, e.ID); err != nil {
				return err
			}
		}
		return accounts.WriteAudit(tx, actor, "reveal", "event "+e.Slug, name)
	})
	if err == nil {
		err = s.Events.ReadOpenEvents(ctx)
	}
	return name, changes, err
}

// revealOrder has the ranks of an event's entrants, in which RevealResults publishes results from the last to the
// first.
type revealOrder struct {
	entrants events.Entrants
	rankOf   map[events.Entrant]int // rank in the standings, from 1
}

func (s *Store) readRevealOrder(ctx context.Context, e events.Event) (r revealOrder, err error) {
	tasks, err := s.Events.Tasks(ctx, e.ID)
	if err != nil {
		return r, err
	}
	if r.entrants, err = s.readEntrants(ctx, e); err != nil {
		return r, err
	}
	st, err := s.EventStandings(ctx, e, tasks, "", time.Time{})
	r.rankOf = make(map[events.Entrant]int, len(st.Rows))
	for i, row := range st.Rows {
		r.rankOf[row.Entrant] = i + 1
	}
	return r, err
}

// lowestRankedUnrevealed returns the people with waiting results who belong to the lowest-ranked entrant. Entrants
// without a rank are below all others.
func (r revealOrder) lowestRankedUnrevealed(
	list []PersonWithFrozenResults,
) (chosen []PersonWithFrozenResults, entrant events.Entrant) {
	lowest := 0
	for _, w := range list {
		of := r.entrants.EntrantOf(w.UserID, w.UserName)
		at, stands := r.rankOf[of]
		if !stands {
			at = len(r.rankOf) + 1
		}
		switch {
		case at > lowest:
			lowest, entrant, chosen = at, of, []PersonWithFrozenResults{w}
		case of == entrant:
			chosen = append(chosen, w)
		}
	}
	return chosen, entrant
}

// releaseSubmissions makes the frozen submissions of people count. Those that still run count when they end.
func (s *Store) releaseSubmissions(
	tx *gorm.DB, eventID int64, people []PersonWithFrozenResults,
) ([]boards.ChangedBoard, error) {
	ids := make([]int64, len(people))
	for i, w := range people {
		ids[i] = w.UserID
	}
	var frozen []int64
	err := tx.Model(&submissions.Submission{}).Where("frozen_event = ? and user_id in ?", eventID, ids).Pluck("id", &frozen).Error
	if err == nil {
		err = tx.Model(&submissions.Submission{}).Where("id in ?", frozen).Update("frozen_event", 0).Error
	}
	if err == nil {
		_, err = applyHolds(tx, tx.Model(&work.Run{}).Where("submission_id in ?", frozen))
	}
	var on []boards.Entry
	if err == nil {
		err = tx.Table("runs").Distinct("version_id, device, user_id").Where("submission_id in ? and "+boards.ValidRunSQL, frozen).Scan(&on).Error
	}
	if err != nil {
		return nil, fmt.Errorf("revealing event %d: %w", eventID, err)
	}
	return s.recomputeAndConfirm(tx, on)
}
