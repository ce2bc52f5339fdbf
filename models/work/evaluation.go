package work

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// EvaluationState is the state of an evaluation.
type EvaluationState string

// States, in order. The last four are final.
const (
	EvaluationSubmitted  EvaluationState = "submitted"
	EvaluationCompiling  EvaluationState = "compiling"
	EvaluationValidating EvaluationState = "validating"
	EvaluationProfiling  EvaluationState = "profiling"
	EvaluationCompleted  EvaluationState = "completed" // even if the kernel's answer is wrong
	EvaluationFailed     EvaluationState = "failed"    // because of an infrastructure error
	EvaluationTimeout    EvaluationState = "timeout"
	EvaluationCancelled  EvaluationState = "cancelled"
)

// IsFinal reports whether the evaluation has ended.
func (s EvaluationState) IsFinal() bool {
	switch s {
	case EvaluationCompleted, EvaluationFailed, EvaluationTimeout, EvaluationCancelled:
		return true
	}
	return false
}

// Evaluation is a request to compile, check, and time a kernel, or to compare two, without a task.
type Evaluation struct {
	ID               string          `gorm:"primaryKey"`
	UserID           int64           // 0 without sign-in
	Owner            string          // caller that owns it: a token, a person, or a key; empty if none
	Caller           string          // person or address that the limits apply to
	ReadableByAnyone bool            `gorm:"column:shared"` // anyone with its ID can read it
	Kind             string          // kernelrun.EvaluationKind
	Request          json.RawMessage `gorm:"serializer:json"` // kernelrun.Request; {} if it was cancelled
	// RequestBytes is the size of the request in bytes.
	RequestBytes int64
	RequestKey   string // idempotency key
	SourceHash   string // hash of the sources
	BatchID      string `gorm:"column:batch"` // ID of its batch; empty if it was sent alone
	BatchIndex   int    // index of its request in the batch, from 0
	// number among the results of the batch, from 1; 0 if it has not ended
	BatchResultNumber int64 `gorm:"column:batch_result"`
	// ParkedReason is parkedByLimit or parkedForEqualRequest while the evaluation is kept out of the queue, else 0.
	ParkedReason   int    `gorm:"column:parked"`
	RequestHash    string // hash of what is measured, if its result may be shared
	SharesResultOf string `gorm:"column:shares"` // ID of the evaluation whose result it shares
	State          EvaluationState
	ChangeNumber   int64 `gorm:"column:change"` // grows with every change that watchers see
	Work
	FailureReason string          `gorm:"column:failure"`  // reason of the failure, or of the last lost attempt
	Result        json.RawMessage `gorm:"serializer:json"` // kernelrun.Result; nil before there is one
}

// Reasons for keeping an evaluation out of the queue.
const (
	parkedByLimit         = 1 // the caller has as many evaluations in the queue as allowed; only for batches
	parkedForEqualRequest = 2 // it waits for the result of an equal evaluation (SharesResultOf)
)

// emptyRequestJSON is the stored value if the request is not stored.
const emptyRequestJSON = "{}"

// MaxShownRequestBytes limits the requests that readers receive, in bytes. A request may have 12 MiB.
const MaxShownRequestBytes = 1 << 20

// HasRequest reports whether the request is stored.
func (e Evaluation) HasRequest() bool { return string(e.Request) != emptyRequestJSON }

// IsLarge reports whether the request is stored and exceeds MaxShownRequestBytes.
func (e Evaluation) IsLarge() bool { return e.HasRequest() && e.RequestBytes > MaxShownRequestBytes }

// TableName returns the table of evaluations.
func (Evaluation) TableName() string { return "evaluations" }

// Evaluation returns the evaluation with an ID. If ctx ends while it reads the row, it returns an error instead of a
// partial evaluation, which has no owner.
func (l *LifeCycle) Evaluation(ctx context.Context, id string) (Evaluation, error) {
	var e Evaluation
	read := l.db.Read(ctx)
	if err := read.Where("id = ?", id).Take(&e).Error; err != nil {
		return Evaluation{}, db.ReadError(err, "evaluation %s", id)
	}
	return e, e.loadSharedResult(read)
}

// ReadableEvaluation returns an evaluation for readers: without the request if that is large.
func (l *LifeCycle) ReadableEvaluation(ctx context.Context, id string) (Evaluation, error) {
	e, err := l.readShownEvaluation(ctx, func(query *gorm.DB) *gorm.DB { return query.Where("id = ?", id) })
	return e, db.ReadError(err, "evaluation %s", id)
}

// readShownEvaluation reads the evaluation that find selects, without a large request.
func (l *LifeCycle) readShownEvaluation(ctx context.Context, find func(*gorm.DB) *gorm.DB) (Evaluation, error) {
	var e Evaluation
	read := l.db.Read(ctx)
	row := gorm.Statement{DB: read}
	if err := row.Parse(&e); err != nil {
		return e, err
	}
	columns := slices.DeleteFunc(slices.Clone(row.Schema.DBNames), func(name string) bool { return name == "request" })
	columns = append(columns, fmt.Sprintf("case when request_bytes <= %d or state = '%s' then request end as request", MaxShownRequestBytes, EvaluationCancelled))
	if err := read.Select(columns).Scopes(find).Take(&e).Error; err != nil {
		return Evaluation{}, err
	}
	return e, e.loadSharedResult(l.db.Read(ctx))
}

// EvaluationForPolling returns an evaluation without its request and result, for callers that wait for its end and poll
// every second. If the evaluation waits for a shared result, it has the start time of the measured one.
func (l *LifeCycle) EvaluationForPolling(ctx context.Context, id string) (e Evaluation, err error) {
	if err := l.db.Read(ctx).Omit("request", "result").Where("id = ?", id).Take(&e).Error; err != nil {
		return Evaluation{}, db.ReadError(err, "evaluation %s", id)
	}
	if e.SharesResultOf != "" && !e.State.IsFinal() {
		var measured Evaluation
		err = l.db.Read(ctx).Select("started_at").Where("id = ?", e.SharesResultOf).Limit(1).Find(&measured).Error
		e.StartedAt = measured.StartedAt
	}
	return e, db.ReadError(err, "evaluation %s", id)
}

// endedBatchSQL excludes evaluations of batches that have unfinished evaluations, because their callers may be reading
// the results.
const endedBatchSQL = "batch not in (select batch from evaluations where " + NotEndedSQL + " and batch <> '')"

// PruneEvaluations deletes evaluations that ended before a time.
func (l *LifeCycle) PruneEvaluations(ctx context.Context, before time.Time) error {
	err := l.db.WriteStatement(ctx).Where("ended_at < ? and "+unsharedResultSQL+" and "+endedBatchSQL, db.NormalizeTime(before)).Delete(&Evaluation{}).Error
	return db.WriteError(err, "evaluations without the old ones")
}

// Requester is the caller of an evaluation request: a person, or a caller with a key. The zero value owns nothing.
type Requester struct {
	User  accounts.User
	Owner string // identifies the caller: a token, a person, or a key; empty if none
}

// Owns reports whether an evaluation belongs to the caller. A person's tokens and sessions own the same evaluations.
func (a Requester) Owns(e Evaluation) bool {
	if a.User.SignedIn() {
		return e.UserID == a.User.ID
	}
	return a.Owner != "" && e.UserID == 0 && e.Owner == a.Owner
}

// restrictToOwn restricts a query to the caller's own evaluations.
func (a Requester) restrictToOwn(query *gorm.DB) *gorm.DB {
	if a.User.SignedIn() {
		return query.Where("user_id = ?", a.User.ID)
	}
	return query.Where("user_id = 0 and owner = ?", a.Owner)
}

// MayRead reports whether the caller may read an evaluation with its sources and results.
func (a Requester) MayRead(e Evaluation) bool { return e.ReadableByAnyone || a.MayChange(e) }

// MayChange reports whether the caller may cancel or share an evaluation.
func (a Requester) MayChange(e Evaluation) bool { return a.Owns(e) || a.User.IsAdmin() }

// Evaluations lists the caller's own evaluations, newest first, without requests and results.
func (l *LifeCycle) Evaluations(ctx context.Context, asker Requester, offset, limit int) ([]Evaluation, error) {
	list := []Evaluation{}
	if !asker.User.SignedIn() && asker.Owner == "" {
		return list, nil
	}
	query := asker.restrictToOwn(l.db.Read(ctx)).Omit("request", "result").Order("queued_at desc, id").Offset(offset).Limit(limit)
	return list, db.ReadError(query.Find(&list).Error, "evaluations")
}

// PruneEvaluationsOf deletes the evaluations of an owner that ended before a time. Those that count towards the limits
// of an hour remain, and those without an owner.
func (l *LifeCycle) PruneEvaluationsOf(ctx context.Context, owner string, before time.Time) error {
	if owner == "" {
		return nil
	}
	err := l.db.WriteStatement(ctx).Where("ended_at < ? and queued_at <= ? and owner = ? and "+unsharedResultSQL+" and "+endedBatchSQL,
		db.NormalizeTime(before), db.Now().Add(-limitPeriod), owner).Delete(&Evaluation{}).Error
	return db.WriteError(err, "evaluations without the old ones")
}

// SetEvaluationShared turns sharing on or off. Anyone who has the ID of a shared evaluation can read it.
func (l *LifeCycle) SetEvaluationShared(ctx context.Context, id string, shared bool) (e Evaluation, err error) {
	err = l.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("id = ?", id).Take(&e).Error; err != nil {
			return db.ReadError(err, "evaluation %s", id)
		}
		if e.ReadableByAnyone == shared {
			return nil
		}
		e.ReadableByAnyone = shared
		e.ChangeNumber++
		return db.WriteError(tx.Model(&e).Updates(map[string]any{"shared": shared, "change": e.ChangeNumber}).Error, "evaluation")
	})
	return e, err
}
