package models_test

import (
	"slices"
	"testing"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/events"
	"warpboard/models/modelstest"
	"warpboard/models/review"
)

// TestAFrozenEventShowsNothingUntilItIsRevealed checks that the results of a frozen event stay hidden, and are revealed
// one entrant at a time, from the lowest rank to the first.
func TestAFrozenEventShowsNothingUntilItIsRevealed(t *testing.T) {
	eachContest(t, func(c *contest) {
		e := c.create()
		c.plays(c.Ann, c.Task, 100)
		c.plays(c.Ben, c.Task, 200)
		*c.now = *c.in.FrozenAt
		for _, user := range []accounts.User{c.Ann, c.Ben, c.cleo} {
			run := c.plays(user, c.Task, []float64{0, 0, 50, 40, 10}[user.ID%5])
			if run.HeldReason == "" || run.ScoreNS == nil {
				t.Errorf("a frozen run of %s: %+v", user.Name, run)
			}
		}
		if list := modelstest.Got[[]models.FlaggedRun](t)(c.ReviewQueue(t.Context(), c.Admin,
			models.ReviewFilter{Limit: 10})); len(list) != 0 {
			t.Errorf("to review: %+v", list)
		}
		before := []string{"1 Ann: 0 + 5 = 5", "2 Ben: 0 + 3 = 3"}
		c.wantTable(e, before...)
		waiting := func() (n int) {
			for _, w := range modelstest.Got[[]models.PersonWithFrozenResults](t)(c.PeopleWithFrozenResults(t.Context(), e.ID)) {
				n += w.SubmissionCount
			}
			return n
		}
		reveal := func(submissions int) string {
			t.Helper()
			name, _, err := c.RevealResults(t.Context(), c.Admin, e.Slug, submissions)
			modelstest.Check(t, err)
			if submissions != models.RevealAllResults { // sending the same form twice is refused
				modelstest.WantKind(t, modelstest.Third(c.RevealResults(t.Context(), c.Admin, e.Slug, submissions)),
					db.Conflict)
			}
			return name
		}
		if _, _, err := c.RevealResults(t.Context(), c.Admin, e.Slug,
			models.RevealAllResults); db.KindOf(err) != db.Conflict {
			t.Errorf("revealed before its end: %v", err)
		}
		*c.now = c.in.EndsAt
		if _, _, err := c.RevealResults(t.Context(), c.Ann, e.Slug,
			models.RevealAllResults); db.KindOf(err) != db.Forbidden {
			t.Errorf("revealed by a person: %v", err)
		}
		modelstest.Check(t, c.Boards.RebuildEntries(t.Context()))
		c.wantTable(e, before...)
		// Cleo is not in the standings yet, so her results are revealed first
		if name := reveal(waiting()); name != "Cleo" {
			t.Errorf("first revealed: %s", name)
		}
		if name := reveal(waiting()); name == "Cleo" {
			t.Error("Cleo was revealed twice")
		}
		if name := reveal(models.RevealAllResults); name != "" {
			t.Errorf("all: %q", name)
		}
		if list := c.table(e); len(list) != 3 || slices.Equal(list, before) {
			t.Errorf("revealed: %v", list)
		}
		if found := modelstest.Got[events.EventRow](t)(c.Events.Event(t.Context(), e.Slug)); found.RevealedAt == nil ||
			found.IsFrozen(*c.now) {
			t.Errorf("after the last: %+v", found)
		}
	})
}

// TestDecisionsRevealNoFrozenRun checks that a moderator's decision about a frozen run does not make it visible.
func TestDecisionsRevealNoFrozenRun(t *testing.T) {
	eachContest(t, func(c *contest) {
		e := c.create()
		*c.now = *c.in.FrozenAt
		disqualified, held := c.plays(c.Ann, c.Task, 100), c.held(t, c.Store, c.Ben, 50, 1.4)
		author := modelstest.Person(t, c.Store, "Carl", accounts.RoleCreator)
		modelstest.Check(t, modelstest.Second(c.SQL().ExecContext(t.Context(), "update tasks set owner_id = $1",
			author.ID)))
		if _, err := c.Disqualify(t.Context(), author, disqualified.ID, "A guess."); db.KindOf(err) != db.NotFound {
			t.Errorf("an author who may not know of a frozen run decides about it: %v", err)
		}
		modelstest.Got[any](t)(c.Disqualify(t.Context(), c.Admin, disqualified.ID, "It reads no input."))
		modelstest.Got[any](t)(c.Reinstate(t.Context(), c.Admin, disqualified.ID, "It does."))
		modelstest.Got[any](t)(c.DismissFlags(t.Context(), c.Admin, held.ID, "The task asks for less."))
		c.wantTable(e)
		*c.now = c.in.EndsAt
		_, _, err := c.RevealResults(t.Context(), c.Admin, e.Slug, models.RevealAllResults)
		modelstest.Check(t, err)
		c.wantTable(e, "1 Ben: 0 + 5 = 5", "2 Ann: 0 + 3 = 3")
	})
}

// TestARevealedRunStaysHeldForAReview checks that revealing results does not release a run that is also on hold for a
// review.
func TestARevealedRunStaysHeldForAReview(t *testing.T) {
	eachContest(t, func(c *contest) {
		e := c.create()
		*c.now = *c.in.FrozenAt
		run := c.held(t, c.Store, c.Ann, 50, 1.4)
		*c.now = c.in.EndsAt
		_, _, err := c.RevealResults(t.Context(), c.Admin, e.Slug, models.RevealAllResults)
		modelstest.Check(t, err)
		c.wantTable(e)
		if list := modelstest.Got[[]models.FlaggedRun](t)(c.ReviewQueue(t.Context(), c.Admin,
			models.ReviewFilter{Limit: 10})); len(list) != 1 || list[0].RunID != run.ID ||
			list[0].Flags[0].Kind != review.KindHeld {
			t.Errorf("to review: %+v", list)
		}
	})
}

// TestAFreezeWithWaitingResultsStays checks that the freeze of an event cannot be removed while results wait to be
// revealed.
func TestAFreezeWithWaitingResultsStays(t *testing.T) {
	eachContest(t, func(c *contest) {
		e := c.create()
		*c.now = *c.in.FrozenAt
		c.plays(c.Ann, c.Task, 100)
		c.in.FrozenAt = nil
		if _, err := c.Events.Update(t.Context(), c.Admin, e.Slug, c.in); db.KindOf(err) != db.Conflict {
			t.Errorf("the freeze was lifted: %v", err)
		}
	})
}
