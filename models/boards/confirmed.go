package boards

import "math"

// What confirmations mean for a run q, in SQL. The score of a run that was measured again in a rejudge since comes from no
// confirmation: each one has the score that it gave.
const (
	confirmedRun = `(f.challenger_id = q.id and f.challenger_ns is not null or f.holder_id = q.id and f.holder_ns is not null)`
	confirmed    = `exists (select 1 from confirmations f where f.challenger_id = q.id and abs(f.challenger_ns - q.score_ns) <= 1e-9 * q.score_ns
		or f.holder_id = q.id and abs(f.holder_ns - q.score_ns) <= 1e-9 * q.score_ns)`

	// unconfirmed is the rule of records that may yet turn out to be luck.
	unconfirmed = `(exists (select 1 from boards k where k.version_id = q.version_id and k.device = q.device and k.confirming = q.id)
		or (q.disturbed <> '' or q.noisy) and not ` + confirmed + `)`

	// wasNS is the score before the first confirmation, if the score comes from one.
	wasNS = `(select case when f.challenger_id = q.id then f.challenger_was else f.holder_was end from confirmations f
		where ` + confirmedRun + ` and ` + confirmed + ` order by f.id limit 1)`
)

// Rescored reports whether a confirmation changed a score by more than scores resolve; was is nil where there was none.
func Rescored(was *float64, ns float64) bool {
	return was != nil && math.Abs(*was-ns) > resolution*min(*was, ns)
}
