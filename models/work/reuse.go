package work

import (
	"context"
	"math"

	"gorm.io/gorm"

	"warpboard/models/db"
	"warpboard/models/epochs"
)

// Equal evaluations of one caller share one measurement if the requests allow it: those that wait, and later ones,
// until the device gets new software. An evaluation that shares waits outside the queue. If the measured evaluation
// ends without a result, the first of the others is measured instead. A result is stored once, because 10,000
// evaluations may share it. When a worker's credential is revoked, package fleet clears the hash of the evaluations
// that it measured, so that no later evaluation shares their results.

// maxEvaluationsPerResult limits the evaluations that wait for one result. They all end in the transaction of the
// result, which blocks other writers.
const maxEvaluationsPerResult = 200

// unsharedResultSQL selects evaluations whose result no other evaluation shares.
const unsharedResultSQL = "id not in (select shares from evaluations where shares <> '')"

// findShareableEvaluation returns the caller's evaluation whose result e may share, without its result, and the number
// of others that may share it. It returns the zero Evaluation if there is none.
func (e *Evaluation) findShareableEvaluation(tx *gorm.DB, asker Requester) (same Evaluation, places int64, err error) {
	if e.RequestHash == "" || !asker.User.SignedIn() && asker.Owner == "" {
		return same, 0, nil
	}
	since, err := epochs.NewestFirstSeen(tx, e.Device)
	if err != nil {
		return same, 0, err
	}
	query := asker.restrictToOwn(tx.Omit("request", "result")).Where("request_hash = ? and request_hash <> '' and device = ? and shares = ''", e.RequestHash, e.Device).
		Where(NotEndedSQL+" and (select count(*) from evaluations s where s.shares = evaluations.id and s.shares <> '' and s.ended_at is null) < ?"+
			" or state = ? and started_at >= ?", maxEvaluationsPerResult, EvaluationCompleted, db.NormalizeTime(since))
	err = query.Order("queued_at, id").Limit(1).Find(&same).Error
	switch {
	case err != nil || same.ID == "":
		return same, 0, db.ReadError(err, "equal evaluations")
	case same.EndedAt != nil:
		return same, math.MaxInt64, nil
	}
	err = tx.Model(&Evaluation{}).Where(waitingSharersSQL, same.ID).Count(&places).Error
	return same, maxEvaluationsPerResult - places, db.ReadError(err, "equal evaluations")
}

// waitingSharersSQL selects the evaluations that wait for the result of another one.
const waitingSharersSQL = "shares = ? and shares <> '' and " + NotEndedSQL

// waitForResultOf makes the evaluation wait for the result of another evaluation.
func (e *Evaluation) waitForResultOf(same Evaluation) {
	e.ParkedReason, e.SharesResultOf = parkedForEqualRequest, same.ID
}

// create stores the evaluation. If it shares an existing result, it ends at once.
func (e *Evaluation) create(tx *gorm.DB, asker Requester) error {
	same, _, err := e.findShareableEvaluation(tx, asker)
	if err != nil {
		return err
	}
	if same.ID != "" {
		e.waitForResultOf(same)
	}
	if err := tx.Create(e).Error; err != nil {
		return db.WriteError(err, "evaluation")
	}
	var news Effect // the Effect is not used, because a new evaluation has no watchers
	if err := same.endSharers(tx, &news); err != nil || len(news.Evaluations) == 0 {
		return err
	}
	request := e.Request
	*e = news.Evaluations[0]
	e.Request = request
	return e.loadSharedResult(tx)
}

// shareResults makes evaluations that are not stored yet share results, also with each other. It returns those that
// share an existing result; the caller must end them after storing all.
func shareResults(tx *gorm.DB, asker Requester, taken []Evaluation) (ended []Evaluation, err error) {
	type requestKey struct{ hash, device string }
	type group struct {
		same   Evaluation
		places int64
	}
	groups := map[requestKey]group{}
	for i := range taken {
		e := &taken[i]
		key := requestKey{e.RequestHash, e.Device}
		of, seen := groups[key]
		if !seen {
			if of.same, of.places, err = e.findShareableEvaluation(tx, asker); err != nil {
				return nil, err
			}
			if of.same.EndedAt != nil {
				ended = append(ended, of.same)
			}
		}
		if of.places > 0 {
			e.waitForResultOf(of.same)
			of.places--
		} else {
			of = group{*e, maxEvaluationsPerResult}
		}
		if e.RequestHash != "" {
			groups[key] = of
		}
	}
	return ended, nil
}

// endSharers ends the evaluations that share the result of e, which has ended.
func (e *Evaluation) endSharers(tx *gorm.DB, out *Effect) error {
	if e.EndedAt == nil || e.RequestHash == "" || e.SharesResultOf != "" {
		return nil
	}
	var list []Evaluation
	query := tx.Omit("request", "result").Where(waitingSharersSQL, e.ID).Order("queued_at, id")
	if !e.hasResult() {
		query = query.Limit(1)
	}
	if err := query.Find(&list).Error; err != nil || len(list) == 0 {
		return db.ReadError(err, "evaluations that share a result")
	}
	if !e.hasResult() {
		return e.measureNextSharer(tx, list[0].ID)
	}
	for i := range list {
		s := &list[i]
		s.State, s.Worker = e.State, e.Worker // StartedAt stays nil: it used no slot
		s.end()
		if err := saveWork(tx, s, s.AttemptID); err != nil {
			return err
		}
		if err := s.announce(tx, out); err != nil {
			return err
		}
	}
	return nil
}

// hasResult reports whether the evaluation ended with a result that others may share. A timeout caused by the kernel
// counts, because it would occur again.
func (e *Evaluation) hasResult() bool {
	return e.State == EvaluationCompleted || e.State == EvaluationTimeout
}

// measureNextSharer queues one of the evaluations that waited for the result of e, at the position of e, because e
// ended without a result. The others wait for the new one.
func (e *Evaluation) measureNextSharer(tx *gorm.DB, next string) error {
	err := tx.Model(&Evaluation{}).Where("id = ?", next).Updates(map[string]any{"parked": e.ParkedReason,
		"shares": ""}).Error
	if err == nil {
		err = tx.Model(&Evaluation{}).Where(waitingSharersSQL, e.ID).Update("shares", next).Error
	}
	return db.WriteError(err, "evaluations that share a result")
}

// hasSuccessor reports whether the evaluation ends and another one that shares its measurement must be measured
// instead.
func (e *Evaluation) hasSuccessor(tx *gorm.DB) (bool, error) {
	if e.RequestHash == "" || e.SharesResultOf != "" || e.hasResult() {
		return false, nil
	}
	var wait int64
	err := tx.Model(&Evaluation{}).Where(waitingSharersSQL, e.ID).Count(&wait).Error
	return wait > 0, db.ReadError(err, "evaluations that share a result")
}

// loadSharedResult sets the result of an evaluation from the evaluation whose result it shares.
func (e *Evaluation) loadSharedResult(read *gorm.DB) error {
	if e.SharesResultOf == "" || !e.hasResult() {
		return nil
	}
	var from Evaluation
	err := read.Select("result").Where("id = ?", e.SharesResultOf).Limit(1).Find(&from).Error
	e.Result = from.Result
	return db.ReadError(err, "the result of evaluation %s", e.SharesResultOf)
}

// RequeueOrphanedSharers queues evaluations that wait for the result of an ended evaluation. This happens if a process
// of an older version ended it.
func (l *LifeCycle) RequeueOrphanedSharers(ctx context.Context) error {
	err := l.db.WriteStatement(ctx).Exec("update evaluations set parked = 0, shares = '' where parked = ? and "+NotEndedSQL+
		" and shares not in (select id from evaluations where "+NotEndedSQL+")", parkedForEqualRequest).Error
	return db.WriteError(err, "evaluations that share a result")
}
