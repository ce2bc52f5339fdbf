package pools

import (
	"slices"
	"time"

	"warpboard/tasks"
)

// mostBack is how many runs since looks back: a pool of thousands is not rebuilt for each of them.
// Each step makes a score of everything before it: 32 bound the cost at 32 passes over the pool. Past it a date may be
// too late.
const mostBack = 32

// since is when the group reached its score. Later runs of the same source that did not improve it do not move it; otherwise
// its person would lose a record, and another gain one, by a repetition. If a time is given and a run had ended by then,
// only such runs count.
func (g *group) since(ranking tasks.Ranking, measured map[int64]Measurement, until time.Time) time.Time {
	at := g.newest(until)
	score, ok := g.scoreUntil(ranking, measured, at)
	for range mostBack {
		// It walks back while the score at that time was already as good: equal within rounding, or better.
		before, found := g.before(at)
		if !ok || !found {
			break
		}
		had, known := g.scoreUntil(ranking, measured, before)
		if !known || had > score*(1+rounding) {
			break
		}
		at = before
	}
	return at
}

// scoreUntil is the score of what had ended until a time; false: no valid run had, or they cannot be pooled.
func (g *group) scoreUntil(ranking tasks.Ranking, measured map[int64]Measurement, until time.Time) (float64, bool) {
	members := slices.DeleteFunc(slices.Clone(g.members), func(m member) bool { return m.EndedAt.After(until) })
	retained := slices.DeleteFunc(slices.Clone(g.retained), func(r Retained) bool { return r.EndedAt.After(until) })
	if len(members) == 0 {
		return 0, false
	}
	score, err := together(ranking, distinct(members[0], members, measured), retained)
	return score.ScoreNS, err == nil
}

// before is when the newest of what ended before a time did.
func (g *group) before(at time.Time) (newest time.Time, found bool) {
	for _, ended := range g.ends() {
		if ended.Before(at) && (!found || ended.After(newest)) {
			newest, found = ended, true
		}
	}
	return newest, found
}

func (g *group) ends() (list []time.Time) {
	for _, m := range g.members {
		list = append(list, m.EndedAt)
	}
	for _, r := range g.retained {
		list = append(list, r.EndedAt)
	}
	return list
}

// newest is when the newest run of the group ended. If a time is given and a run had ended by then, only such runs count.
func (g *group) newest(until time.Time) time.Time {
	at := g.members[0].EndedAt
	for _, ended := range g.ends() {
		if ended.After(at) && (until.IsZero() || !ended.After(until)) {
			at = ended
		}
	}
	return at
}
