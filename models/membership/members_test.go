package membership_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/events"
	"warpboard/models/membership"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
)

// membersTask is a task with visibility "members", its author, and two people who are not members.
type membersTask struct {
	*models.Store
	t              *testing.T
	author, ann, b accounts.User
	task           catalog.Task
}

func newMembersTask(t *testing.T, s *models.Store) *membersTask {
	c := &membersTask{Store: s, t: t, author: modelstest.Person(t, s, "author", accounts.RoleCreator),
		ann: modelstest.Person(t, s, "ann", accounts.RoleUser), b: modelstest.Person(t, s, "b", accounts.RoleUser)}
	c.task = c.taskFor("club", catalog.Members)
	return c
}

func (c *membersTask) taskFor(name string, who catalog.Visibility) catalog.Task {
	c.t.Helper()
	return modelstest.Got[catalog.Task](c.t)(c.Catalog.CreateTask(c.t.Context(), c.author, catalog.NewTask{
		TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}, Visibility: who},
		Bundle:       modelstest.Bundle(name)}))
}

func (c *membersTask) code(n membership.NewInvite) string {
	c.t.Helper()
	code, _, err := c.Members.CreateInvite(c.t.Context(), c.author, c.task.ID, n)
	modelstest.Check(c.t, err)
	return code
}

// now reads a person again, as the next request does.
func (c *membersTask) now(u accounts.User) accounts.User {
	c.t.Helper()
	return modelstest.Got[accounts.User](c.t)(c.Accounts.User(c.t.Context(), u.ID))
}

func (c *membersTask) sees(task catalog.Task, u accounts.User) bool { return task.VisibleTo(c.now(u)) }

func (c *membersTask) firstInvite() membership.Invite {
	c.t.Helper()
	list := modelstest.Got[[]membership.Invite](c.t)(c.Members.Invites(c.t.Context(), c.task.ID))
	return list[0]
}

func TestACodeOpensItsBoardToItsPersonAlone(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		c, ctx := newMembersTask(t, s), t.Context()
		code := c.code(membership.NewInvite{Note: "course", MaxPeople: 5, Lifetime: time.Hour})
		if offer, err := s.Members.PreviewJoin(ctx, c.ann.ID, code); err != nil || offer.Task.ID != c.task.ID || offer.AllTasksVisible ||
			c.task.VisibleTo(c.now(c.ann)) {
			t.Errorf("looking at the code: %+v, %v", offer, err)
		}
		for range 2 { // the second time Ann is a member already
			if task := modelstest.Got[catalog.Task](t)(s.Members.Join(ctx, c.ann.ID,
				" "+code+"\n")); task.Slug != c.task.Slug {
				t.Errorf("she joined %q", task.Slug)
			}
		}
		modelstest.Check(t, modelstest.Second(s.Members.Join(ctx, c.author.ID, code)))
		if !c.task.VisibleTo(c.now(c.ann)) || c.task.VisibleTo(c.now(c.b)) || c.firstInvite().UseCount != 1 {
			t.Errorf("she sees the task: %v, another: %v, %d uses", c.task.VisibleTo(c.now(c.ann)),
				c.task.VisibleTo(c.now(c.b)), c.firstInvite().UseCount)
		}
		_, _, err := s.Submissions.Submit(ctx,
			submissions.NewSubmission{User: c.ann, TaskID: c.task.ID, Devices: []string{"CPU"}, Mode: "ranked",
				Source: []byte("int x;"), Via: "test"})
		modelstest.Check(t, err)
		list, more, err := s.Members.List(ctx, c.task.ID, 0, 10)
		if err != nil || more || len(list) != 1 || list[0].UserName != "ann" || list[0].InviteNote != "course" ||
			!strings.HasPrefix(code, list[0].InviteCodePrefix) {
			t.Errorf("who used which code: %+v, %v, %v", list, more, err)
		}
		stranger := c.now(c.b)
		for what, err := range map[string]error{
			"make a code": modelstest.Third(s.Members.CreateInvite(ctx, stranger, c.task.ID, membership.NewInvite{})),
			"revoke one":  s.Members.RevokeInvite(ctx, stranger, c.task.ID, c.firstInvite().ID),
			"remove her":  s.Members.Remove(ctx, c.now(c.ann), c.task.ID, c.ann.ID),
		} {
			if db.KindOf(err) != db.Forbidden {
				t.Errorf("%s: %v", what, err)
			}
		}
		modelstest.Check(t, s.Catalog.DeleteTask(ctx, c.author, c.task.ID, c.task.Slug))
		if joined := c.now(c.ann).JoinedTaskIDs; len(joined) > 0 {
			t.Errorf("the task is gone, and she is in %v", joined)
		}
	})
}

func TestACodeThatOpensNothingSaysWhy(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		c, ctx := newMembersTask(t, s), t.Context()
		usedUp := c.code(membership.NewInvite{MaxPeople: 1})
		modelstest.Check(t, modelstest.Second(s.Members.Join(ctx, c.b.ID, usedUp)))
		expired := c.code(membership.NewInvite{Lifetime: time.Hour})
		modelstest.Check(t, modelstest.Second(s.SQL().ExecContext(ctx,
			"update invites set expires_at = $1 where id = $2", db.Now().Add(-time.Minute), c.firstInvite().ID)))
		revoked := c.code(membership.NewInvite{})
		modelstest.Check(t, s.Members.RevokeInvite(ctx, c.author, c.task.ID, c.firstInvite().ID))
		modelstest.WantKind(t, s.Members.RevokeInvite(ctx, c.author, c.task.ID, c.firstInvite().ID+10), db.NotFound)
		good := c.code(membership.NewInvite{})
		for code, want := range map[string]string{
			usedUp: "is used up", expired: "expired on 20", revoked: "is not valid", "wbi_mistyped": "is not valid",
			"": "is not valid", good[:20]: "is not valid",
		} {
			_, looked := s.Members.PreviewJoin(ctx, c.ann.ID, code)
			if err := modelstest.Second(s.Members.Join(ctx, c.ann.ID, code)); err == nil || looked == nil ||
				looked.Error() != err.Error() || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, looking at it %v", want, err, looked)
			}
		}
		modelstest.Check(t, modelstest.Second(s.Catalog.UpdateTask(ctx, c.author, c.task.ID,
			catalog.TaskSettings{Devices: []string{"CPU"}, Visibility: catalog.Hidden})))
		modelstest.WantKind(t, modelstest.Second(s.Members.Join(ctx, c.ann.ID, good)), db.NotFound)
		if len(c.now(c.ann).JoinedTaskIDs) > 0 {
			t.Error("a code that opens nothing let her in")
		}
		for what, n := range map[string]membership.NewInvite{"too many": {MaxPeople: 10_001},
			"too long": {Lifetime: 400 * 24 * time.Hour}, "a long note": {Note: strings.Repeat("x", 121)},
			"fewer than none": {MaxPeople: -1}} {
			if err := modelstest.Third(s.Members.CreateInvite(ctx, c.author, c.task.ID,
				n)); db.KindOf(err) != db.Invalid {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

func TestARemovedMemberNeedsALaterCode(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		c, ctx := newMembersTask(t, s), t.Context()
		before := c.code(membership.NewInvite{})
		modelstest.Check(t, modelstest.Second(s.Members.Join(ctx, c.ann.ID, before)))
		modelstest.Submit(t, s, c.ann, c.task)
		modelstest.Check(t, s.Members.Remove(ctx, c.author, c.task.ID, c.ann.ID))
		modelstest.WantKind(t, s.Members.Remove(ctx, c.author, c.task.ID, c.ann.ID), db.NotFound)
		if list := modelstest.Got[[]submissions.SubmissionSummary](t)(s.Submissions.Submissions(ctx, c.now(c.ann),
			submissions.SubmissionFilter{UserID: c.ann.ID})); c.task.VisibleTo(c.now(c.ann)) || len(list) > 0 {
			t.Errorf("she sees the task: %v, and is listed %d submissions", c.task.VisibleTo(c.now(c.ann)), len(list))
		}
		_, _, err := s.Submissions.Submit(ctx,
			submissions.NewSubmission{User: c.ann, TaskID: c.task.ID, Devices: []string{"CPU"}, Mode: "ranked",
				Source: []byte("int y;"), Via: "test"})
		modelstest.WantKind(t, err, db.NotFound)
		if err := modelstest.Second(s.Members.Join(ctx, c.ann.ID, before)); db.KindOf(err) != db.Forbidden ||
			!strings.Contains(err.Error(), "You were removed") {
			t.Errorf("with the code from before: %v", err)
		}
		modelstest.Check(t, modelstest.Second(s.Members.Join(ctx, c.ann.ID, c.code(membership.NewInvite{}))))
		if !c.task.VisibleTo(c.now(c.ann)) {
			t.Error("with a later code she is not in")
		}
	})
}

// TestAMemberLeavesAndComesBackWithAnyCode checks that a person who left cannot see the board, keeps their entries, and
// can join again with any code.
func TestAMemberLeavesAndComesBackWithAnyCode(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		c, ctx := newMembersTask(t, s), t.Context()
		code := c.code(membership.NewInvite{})
		modelstest.WantKind(t, s.Members.Leave(ctx, c.ann, c.task), db.NotFound)
		modelstest.Check(t, modelstest.Second(s.Members.Join(ctx, c.ann.ID, code)))
		modelstest.Finish(t, s, modelstest.Submit(t, s, c.ann, c.task)[0], 1e6)
		modelstest.Check(t, s.Members.Leave(ctx, c.ann, c.task))
		if c.task.VisibleTo(c.now(c.ann)) {
			t.Error("who left still sees the task")
		}
		if _, err := s.Boards.PersonPlace(ctx, c.task.VersionID, "CPU", c.ann.ID); err != nil {
			t.Errorf("the entry is gone: %v", err)
		}
		modelstest.Check(t, modelstest.Second(s.Members.Join(ctx, c.ann.ID, code)))
		if !c.task.VisibleTo(c.now(c.ann)) {
			t.Error("the code does not let her in again")
		}
		modelstest.Check(t, s.Members.Remove(ctx, c.author, c.task.ID, c.ann.ID))
		// leaving would otherwise undo the removal
		modelstest.WantKind(t, s.Members.Leave(ctx, c.ann, c.task), db.NotFound)
		modelstest.WantKind(t, modelstest.Second(s.Members.Join(ctx, c.ann.ID, code)), db.Forbidden)
	})
}

// TestOfPeopleWhoRaceForTheLastUseOneGetsIn checks that simultaneous uses of a code for one person admit exactly one,
// and store nothing of the others.
func TestOfPeopleWhoRaceForTheLastUseOneGetsIn(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		c := newMembersTask(t, s)
		code := c.code(membership.NewInvite{MaxPeople: 1})
		var wait sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			user := modelstest.Person(t, s, fmt.Sprint("racer", i), accounts.RoleUser)
			wait.Go(func() { _, errs[i] = s.Members.Join(t.Context(), user.ID, code) })
		}
		wait.Wait()
		in := 0
		for _, err := range errs {
			if err == nil {
				in++
			} else if db.KindOf(err) != db.Forbidden || !strings.Contains(err.Error(), "used up") {
				t.Error(err)
			}
		}
		list, _, err := s.Members.List(t.Context(), c.task.ID, 0, 10)
		if err != nil || in != 1 || len(list) != 1 || c.firstInvite().UseCount != 1 {
			t.Errorf("%d were let in, %d are members, %d uses, %v", in, len(list), c.firstInvite().UseCount, err)
		}
	})
}

// TestListsAgreeWithTasksOnWhoSeesThem checks that the rule in Go (Task.VisibleTo) and the rule in SQL
// (RestrictToVisible) agree.
func TestListsAgreeWithTasksOnWhoSeesThem(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		c, ctx := newMembersTask(t, s), t.Context()
		modelstest.Check(t, modelstest.Second(s.Members.Join(ctx, c.ann.ID, c.code(membership.NewInvite{}))))
		for _, who := range []catalog.Visibility{catalog.Public, catalog.Unlisted, catalog.Hidden} {
			c.taskFor(string(who)+"-task", who)
		}
		all := modelstest.Got[[]catalog.Task](t)(s.Catalog.Tasks(ctx, accounts.User{Role: accounts.RoleAdmin}))
		admin := modelstest.Person(t, s, "admin", accounts.RoleAdmin)
		for _, viewer := range []accounts.User{{}, c.now(c.ann), c.now(c.b), c.now(c.author),
			{ID: c.author.ID, Role: accounts.RoleUser}, admin} {
			listed := modelstest.Got[[]catalog.Task](t)(s.Catalog.Tasks(ctx, viewer))
			for _, task := range all {
				if is := slices.ContainsFunc(listed,
					func(l catalog.Task) bool { return l.ID == task.ID }); is != task.ListedTo(viewer) {
					t.Errorf("%s is listed to %q: %v, and should be: %v", task.Slug, viewer.Name, is,
						task.ListedTo(viewer))
				}
			}
		}
		if n := len(modelstest.Got[[]catalog.Task](t)(s.Catalog.Tasks(ctx, c.now(c.ann)))); len(all) != 4 || n != 2 {
			t.Errorf("of %d tasks a member is listed %d", len(all), n)
		}
	})
}

// TestComingBackUsesUpNoCode checks that joining again does not count as another use of a code, and that leaving does
// not end a removal.
func TestComingBackUsesUpNoCode(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		c, ctx := newMembersTask(t, s), t.Context()
		code := c.code(membership.NewInvite{MaxPeople: 2})
		for range 3 {
			modelstest.Check(t, modelstest.Second(s.Members.Join(ctx, c.ann.ID, code)))
			modelstest.Check(t, s.Members.Leave(ctx, c.now(c.ann), c.task))
		}
		modelstest.Check(t, modelstest.Second(s.Members.Join(ctx, c.b.ID, code)))
		if used := c.firstInvite().UseCount; used != 2 {
			t.Errorf("%d uses are counted, want one for each of the two", used)
		}
		// Ann already has one of the two uses of the code
		modelstest.Check(t, modelstest.Second(s.Members.Join(ctx, c.ann.ID, code)))
		modelstest.Check(t, s.Members.Leave(ctx, c.now(c.ann), c.task))
		modelstest.Check(t, s.Members.Remove(ctx, c.author, c.task.ID, c.ann.ID)) // although Ann has left before
		modelstest.WantKind(t, modelstest.Second(s.Members.Join(ctx, c.ann.ID, code)), db.Forbidden)
		newer := c.code(membership.NewInvite{})
		modelstest.Check(t, modelstest.Second(s.Members.Join(ctx, c.ann.ID, newer)))
		modelstest.Check(t, s.Members.Leave(ctx, c.now(c.ann), c.task))
		modelstest.WantKind(t, modelstest.Second(s.Members.Join(ctx, c.ann.ID, code)), db.Forbidden)
	})
}

// TestACodeOpensTheMembersBoardsOfItsEvent checks that a code admits to the members' boards of the task's event, but to
// no other tasks of the author.
func TestACodeOpensTheMembersBoardsOfItsEvent(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		c, ctx := newMembersTask(t, s), t.Context()
		second, apart, draft := c.taskFor("second", catalog.Members), c.taskFor("apart", catalog.Members),
			c.taskFor("draft", catalog.Hidden)
		early := c.code(membership.NewInvite{MaxPeople: 2})
		modelstest.Check(t, modelstest.Second(s.Members.Join(ctx, c.ann.ID, early)))
		if c.sees(second, c.ann) {
			t.Error("a code opened another task before the event")
		}
		at := s.Events.Now().Add(time.Hour)
		modelstest.Check(t, modelstest.Second(s.Events.Create(ctx, c.author,
			events.EventSettings{Title: "Cup", StartsAt: at, EndsAt: at.Add(time.Hour),
				PointsRuleText: "1", Tasks: []string{second.Slug, c.task.Slug, draft.Slug}})))
		for _, person := range []accounts.User{c.ann, c.b} { // Ann joins again, and the other person for the first time
			offer := modelstest.Got[membership.InviteOffer](t)(s.Members.PreviewJoin(ctx, person.ID, early))
			if offer.AllTasksVisible || offer.OtherTaskCount() != 1 {
				t.Errorf("the code offers %s: %+v", person.Name, offer)
			}
			modelstest.Check(t, modelstest.Second(s.Members.Join(ctx, person.ID, early)))
			if !c.sees(c.task, person) || !c.sees(second, person) || c.sees(apart, person) || c.sees(draft, person) {
				t.Errorf("%s joined something else", person.Name)
			}
		}
		if used := c.firstInvite().UseCount; used != 2 {
			t.Errorf("two people count as %d uses", used)
		}
		modelstest.Check(t, s.Members.Remove(ctx, c.author, second.ID, c.ann.ID))
		modelstest.Check(t, modelstest.Second(s.Members.Join(ctx, c.ann.ID, early)))
		if c.sees(second, c.ann) {
			t.Error("the code let a removed person in again")
		}
	})
}
