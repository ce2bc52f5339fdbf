package work

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/quota"
	"warpboard/models/switches"
)

// NewEvaluation describes an evaluation to queue.
type NewEvaluation struct {
	User             accounts.User // zero value for a caller without sign-in
	Owner            string
	Caller           string // person or address that the limits apply to
	RequestKey       string // idempotency key; if it is empty, each request is a new evaluation
	ReadableByAnyone bool
	Kind             string
	Device           string
	Requires         string // packages that its worker must have
	Request          json.RawMessage
	Sources          []byte // source texts, from which SourceHash is computed
	// SharingKey is equal for requests that measure the same and allow sharing a result; empty if it shares none.
	SharingKey string
	Limits     EvaluationLimits
}

// row returns the evaluation as it is stored.
func (in NewEvaluation) row() Evaluation {
	return Evaluation{
		ID: uuid.NewString(), UserID: in.User.ID, Owner: in.Owner, Caller: in.Caller, ReadableByAnyone: in.ReadableByAnyone, Kind: in.Kind, Request: in.Request,
		RequestBytes: int64(len(in.Request)), RequestKey: in.RequestKey, SourceHash: db.Hash(in.Sources), RequestHash: in.SharingKey, State: EvaluationSubmitted, ChangeNumber: 1,
		Work: Work{Device: in.Device, Requires: in.Requires, QueuedAt: db.Now()},
	}
}

// SubmitEvaluation queues an evaluation. It returns TooMany if the caller has reached a limit, and Conflict if the key
// was used for another request.
func (l *LifeCycle) SubmitEvaluation(ctx context.Context, in NewEvaluation) (Evaluation, error) {
	if err := CheckRequestKey(in.RequestKey); err != nil {
		return Evaluation{}, err
	}
	e := in.row()
	err := l.db.Write(ctx, func(tx *gorm.DB) error {
		before, err := evaluationsSentBefore(tx.Limit(1), Requester{in.User, in.Owner}, in.RequestKey)
		if err != nil {
			return err
		}
		if len(before) > 0 {
			same := before[0].BatchID == "" && before[0].hasSameRequest(e)
			if e = before[0]; !same {
				return checkSameRequest(false)
			}
			return e.loadSharedResult(tx)
		}
		if err := in.Limits.check(tx, in.User, in.Caller, e.RequestBytes); err != nil {
			return err
		}
		if err := checkEvaluationsOn(tx); err != nil {
			return err
		}
		if err := quota.CheckBudget(tx, in.User, in.Device); err != nil {
			return err
		}
		if err := e.create(tx, Requester{in.User, in.Owner}); err != nil {
			return err
		}
		return AddToCounters(tx, CounterSample{Name: CounterEvaluationsSubmitted})
	})
	if err != nil {
		return Evaluation{}, err
	}
	return e, nil
}

// checkEvaluationsOn returns an error while admins have switched evaluations off.
func checkEvaluationsOn(tx *gorm.DB) error {
	return switches.CheckOn(tx, switches.EvaluationsSwitch)
}

// The limit allows a UUID or a hash with a prefix. Clients choose the key, and its column has an index.
const maxRequestKey = 200 // bytes

// CheckRequestKey returns an error if an idempotency key is too long.
func CheckRequestKey(key string) error {
	if len(key) > maxRequestKey {
		return db.Errorf(db.Invalid, "An idempotency key has at most %d bytes, not %d.", maxRequestKey, len(key))
	}
	return nil
}

// evaluationsSentBefore returns the evaluations that the caller has already made with the same key: one, or those of a
// batch by index. A request is repeated if its response was lost. Keys are per caller.
func evaluationsSentBefore(tx *gorm.DB, asker Requester, key string) (list []Evaluation, err error) {
	if key == "" || !asker.User.SignedIn() && asker.Owner == "" {
		return nil, nil
	}
	query := asker.restrictToOwn(tx.Where("request_key = ?", key)).Order("batch_index")
	return list, db.ReadError(query.Find(&list).Error, "evaluations of an idempotency key")
}

// hasSameRequest reports whether two evaluations have the same request. Requests that are not stored are compared by
// size.
func (e Evaluation) hasSameRequest(other Evaluation) bool {
	return e.Kind == other.Kind && e.SourceHash == other.SourceHash && e.RequestBytes == other.RequestBytes &&
		(!e.HasRequest() || bytes.Equal(e.Request, other.Request))
}

// checkSameRequest returns a Conflict error unless same is true.
func checkSameRequest(same bool) error {
	if same {
		return nil
	}
	return db.Errorf(db.Conflict, "A different request was sent with this idempotency key: use a new key.")
}
