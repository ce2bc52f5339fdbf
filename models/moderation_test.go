package models_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

func TestAnAuthorDisqualifiesButNeverUndoesAnAdmin(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		cora, dora := modelstest.Person(t, s, "Cora", accounts.RoleCreator), modelstest.Person(t, s, "Dora", accounts.RoleCreator)
		w.task = modelstest.Task(t, s, cora, "coras", "CPU")
		run, next := w.score(t, s, w.ann, 100), w.score(t, s, w.ann, 200)
		decide := map[string]func(accounts.User, int64, string) ([]boards.Change, error){
			"disqualify": func(u accounts.User, id int64, why string) ([]boards.Change, error) {
				return s.Disqualify(ctx, u, id, why)
			},
			"reinstate": func(u accounts.User, id int64, why string) ([]boards.Change, error) {
				return s.Reinstate(ctx, u, id, why)
			},
		}
		for _, step := range []struct {
			by     accounts.User
			act    string
			id     int64
			why    string
			refuse db.Kind // "": it is done
		}{
			{accounts.User{}, "disqualify", run.ID, "why not", db.Forbidden},
			{w.ann, "disqualify", run.ID, "mine", db.Forbidden},
			{dora, "disqualify", run.ID, "not my task", db.Forbidden},
			{cora, "disqualify", run.ID, " \u3164\n", db.Invalid},
			{cora, "disqualify", run.ID, strings.Repeat("x", 1001), db.Invalid},
			{cora, "disqualify", 999, "there is none", db.NotFound},
			{cora, "reinstate", run.ID, "not disqualified", db.Forbidden},
			{w.admin, "reinstate", run.ID, "not disqualified", db.Conflict},
			{cora, "disqualify", run.ID, "It returns a constant.", ""},
			{w.admin, "disqualify", run.ID, "once more", db.Conflict},
			{dora, "reinstate", run.ID, "not mine", db.Forbidden},
			{cora, "reinstate", run.ID, "I was wrong.", ""},
			{w.admin, "disqualify", run.ID, "It does, see line 3.", ""},
			{cora, "reinstate", run.ID, "an admin decided", db.Forbidden},
		} {
			changes, err := decide[step.act](step.by, step.id, step.why)
			if db.KindOf(err) != step.refuse && (err != nil || step.refuse != "") || step.refuse == "" && len(changes) != 1 {
				t.Errorf("%s to %s (%s): %v, %v; want %q", step.by.Name, step.act, step.why, changes, err, step.refuse)
			}
		}
		if place := got[boards.Standing](t)(s.Boards.Place(ctx, w.task.VersionID, "CPU", w.ann.ID)); place.RunID != next.ID {
			t.Errorf("Ann's entry is run %d, want her next best %d", place.RunID, next.ID)
		}
		now := got[work.Run](t)(s.Work.Run(ctx, run.ID))
		if now.DisqualifiedBy != w.admin.ID || now.DisqualifiedWhy != "It does, see line 3." || now.Valid() {
			t.Errorf("the run says %+v", now)
		}
		var log []string
		for _, a := range got[[]accounts.Audit](t)(s.Accounts.Decisions(ctx, run.ID)) {
			log = append(log, fmt.Sprintf("%s %s: %s", a.ActorName, a.Act, a.Detail))
		}
		want := []string{"Cora disqualify: It returns a constant.", "Cora reinstate: I was wrong.", "Root disqualify: It does, see line 3."}
		if diff := cmp.Diff(want, log); diff != "" {
			t.Errorf("decisions:\n%s", diff)
		}
	})
}

// queue reads the review queue as "run: kinds".
func queue(t *testing.T, s *models.Store, who accounts.User) (out []string) {
	t.Helper()
	for _, run := range got[[]models.FlaggedRun](t)(s.ReviewQueue(t.Context(), who, models.ReviewFilter{Limit: 10})) {
		line := fmt.Sprintf("%d:", run.RunID)
		for _, f := range run.Flags {
			line += " " + string(f.Kind)
		}
		out = append(out, line)
	}
	return out
}

func TestAReportWaitsForAReview(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		cora := modelstest.Person(t, s, "Cora", accounts.RoleCreator)
		run, waiting := w.score(t, s, w.ann, 100), w.submit(t, s, w.ann)
		wantKind(t, s.Report(ctx, accounts.User{}, run.ID, "it cheats"), db.Forbidden)
		wantKind(t, s.Report(ctx, w.ann, run.ID, "it cheats"), db.Forbidden)
		wantKind(t, s.Report(ctx, w.ben, waiting.ID, "it will cheat"), db.Conflict)
		wantKind(t, s.Report(ctx, w.ben, run.ID, ""), db.Invalid)
		check(t, s.Report(ctx, w.ben, run.ID, "It is faster than the memory."))
		wantKind(t, s.Report(ctx, w.ben, run.ID, "again"), db.Conflict)
		check(t, s.Report(ctx, cora, run.ID, "I think so, too."))
		if diff := cmp.Diff([]string{fmt.Sprintf("%d: report report", run.ID)}, queue(t, s, w.admin)); diff != "" {
			t.Errorf("queue:\n%s", diff)
		}
		if list := queue(t, s, cora); len(list) != 0 { // it is not her task
			t.Errorf("another author's queue holds %v", list)
		}
		wantKind(t, second(s.ReviewQueue(ctx, w.ben, models.ReviewFilter{Limit: 10})), db.Forbidden)
		now := got[work.Run](t)(s.Work.Run(ctx, run.ID))
		for who, want := range map[*accounts.User]int{&w.admin: 2, &w.ben: 1, &w.ann: 0, {}: 0} {
			if flags := got[[]models.FlagOf](t)(s.Flags(ctx, *who, now, w.task)); len(flags) != want {
				t.Errorf("%q sees %d flags, want %d", who.Name, len(flags), want)
			}
		}
		_, err := s.Dismiss(ctx, w.ben, run.ID, "fine")
		wantKind(t, err, db.Forbidden)
		_, err = s.Dismiss(ctx, w.admin, run.ID, "The counters agree.")
		check(t, err)
		_, err = s.Dismiss(ctx, w.admin, run.ID, "once more")
		wantKind(t, err, db.Conflict)
		if list := queue(t, s, w.admin); len(list) != 0 {
			t.Errorf("after a look the queue holds %v", list)
		}
		check(t, s.Report(ctx, w.ben, run.ID, "Look at line 7."))
		check(t, second(s.Disqualify(ctx, w.admin, run.ID, "Line 7 knows the seed.")))
		flags := got[[]models.FlagOf](t)(s.Flags(ctx, w.ben, now, w.task))
		if len(flags) != 2 || flags[0].Outcome != "The counters agree." || flags[1].Outcome != "disqualified" || flags[1].ClosedBy != w.admin.ID {
			t.Errorf("the reporter sees %+v", flags)
		}
	})
}

func TestReportsAreLimitedPerHour(t *testing.T) {
	s := modelstest.Open(t)
	w := newWorld(t, s)
	for i := range 11 {
		user := modelstest.Person(t, s, fmt.Sprint("p", i), accounts.RoleUser)
		err := s.Report(t.Context(), w.ben, w.score(t, s, user, 100).ID, "all of them")
		if i < 10 && err != nil || i == 10 && db.KindOf(err) != db.TooMany {
			t.Errorf("report %d: %v", i+1, err)
		}
	}
}

func TestReportsOnATaskThatOneCannotSeeAreNotFound(t *testing.T) {
	s := modelstest.Open(t)
	w := newWorld(t, s)
	run := w.score(t, s, w.ann, 100)
	hidden := catalog.TaskSettings{Devices: []string{"CPU"}, Visibility: catalog.Hidden}
	check(t, second(s.Catalog.UpdateTask(t.Context(), w.admin, w.task.ID, hidden)))
	wantKind(t, s.Report(t.Context(), w.ben, run.ID, "it cheats"), db.NotFound)
}

// TestTheSiteFlagsEntriesAndNeverJudges: hints in the source and clocks that disagree bring an entry into the queue;
// runs that stand on no board are left alone.
func TestTheSiteFlagsEntriesAndNeverJudges(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		submit := func(user accounts.User, mode job.Mode, source string) work.Run {
			_, runs, err := s.Submissions.Submit(ctx, submissions.NewSubmission{User: user, TaskID: w.task.ID, Devices: []string{"CPU"}, Mode: mode, Source: []byte(source)})
			check(t, err)
			return runs[0]
		}
		honest := submit(w.ben, job.ModeRanked, "int main() { return 0; }")
		odd := submit(w.ann, job.ModeRanked, "int a;\nvoid *p = dlsym(0, \"clock_gettime\");")
		submit(w.ann, job.ModeTest, "void *p = dlsym(0, \"clock_gettime\");")
		modelstest.Finish(t, s, honest, 90)
		if list := queue(t, s, w.admin); len(list) != 0 {
			t.Errorf("before it stands on a board: %v", list)
		}
		modelstest.Finish(t, s, odd, 100)
		late := submit(w.ben, job.ModeRanked, "int late;")
		attempt := got[work.Attempt](t)(s.Work.StartAttempt(ctx, late.Ref()))
		result := modelstest.Judge(modelstest.Result(attempt, 50), 50, 90_000)
		check(t, second(s.Work.RecordResult(ctx, result, work.Findings{Score: &work.Score{NS: 50}})))
		if diff := cmp.Diff([]string{fmt.Sprintf("%d: source", odd.ID), fmt.Sprintf("%d: clocks", late.ID)}, queue(t, s, w.admin)); diff != "" {
			t.Errorf("queue:\n%s", diff)
		}
		flags := got[[]models.FlagOf](t)(s.Flags(ctx, w.admin, odd, w.task))
		if len(flags) != 1 || !strings.HasPrefix(flags[0].Detail, "line 2 reaches into the process (dlsym") {
			t.Errorf("the flags say %+v", flags)
		}
		check(t, second(s.Disqualify(ctx, w.admin, odd.ID, "It replaces the clock.")))
		again := submit(w.ann, job.ModeRanked, "int a;\nvoid *p = dlsym(0, \"clock_gettime\");")
		modelstest.Finish(t, s, again, 100)
		flags = got[[]models.FlagOf](t)(s.Flags(ctx, w.admin, again, w.task))
		if want := fmt.Sprintf("the same source as run %d, which is disqualified; line 2", odd.ID); len(flags) != 1 || !strings.HasPrefix(flags[0].Detail, want) {
			t.Errorf("the same source once more: %+v", flags)
		}
		if run := got[work.Run](t)(s.Work.Run(ctx, again.ID)); !run.Valid() {
			t.Error("a flag took a run off its board")
		}
	})
}

func TestDeletingFreesNoLimit(t *testing.T) {
	modelstest.EachConfig(t, models.Config{Limits: submissions.Limits{PerHour: 2}}, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		first, kept := w.score(t, s, w.ann, 100), w.score(t, s, w.ann, 90)
		wantKind(t, second(s.DeleteSubmission(ctx, w.ann, first.SubmissionID, "")), db.Conflict)
		old := "update submissions set created_at = '2020-01-01 00:00:00+00:00'"
		check(t, second(s.SQL().ExecContext(ctx, old)))
		check(t, second(s.Disqualify(ctx, w.admin, kept.ID, "It cheats.")))
		wantKind(t, second(s.DeleteSubmission(ctx, w.ben, first.SubmissionID, "it annoys me")), db.Forbidden)
		check(t, second(s.DeleteSubmission(ctx, w.ann, first.SubmissionID, "")))
		wantKind(t, second(s.DeleteSubmission(ctx, w.ann, kept.SubmissionID, "")), db.Forbidden)
		wantKind(t, second(s.DeleteSubmission(ctx, w.admin, kept.SubmissionID, " ")), db.Invalid)
		check(t, second(s.DeleteSubmission(ctx, w.admin, kept.SubmissionID, "It holds someone's key.")))
	})
}

func TestRenamingShowsOnEveryBoardAndIsLimited(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		w.score(t, s, w.ann, 100)
		before := got[int64](t)(s.Boards.BoardChangeNumber(ctx, w.task.VersionID, "CPU"))
		changes := got[[]boards.Change](t)(s.Rename(ctx, w.ann, w.ann.ID, "Anna"))
		if diff := cmp.Diff([]boards.Change{{VersionID: w.task.VersionID, Device: "CPU", Change: before + 1}}, changes); diff != "" {
			t.Errorf("changes:\n%s", diff)
		}
		if changes := got[[]boards.Change](t)(s.Rename(ctx, w.admin, w.ben.ID, "Benno")); len(changes) != 0 {
			t.Errorf("a person on no board changed %v", changes)
		}
		wantKind(t, second(s.Rename(ctx, w.ben, w.ann.ID, "Fool")), db.Forbidden)
		check(t, second(s.Rename(ctx, w.ann, w.ann.ID, "Annabel")))
		check(t, second(s.Rename(ctx, w.ann, w.ann.ID, "Ann")))
		wantKind(t, second(s.Rename(ctx, w.ann, w.ann.ID, "Anne")), db.TooMany)
		audits := got[[]accounts.Audit](t)(s.Accounts.Audits(ctx, w.admin, "Root", 0, 10))
		if len(audits) == 0 || audits[0].Act != "rename" || audits[0].Detail != "from Ben to Benno" {
			t.Errorf("the log says %+v", audits)
		}
		wantKind(t, second(s.Accounts.Audits(ctx, w.ann, "", 0, 10)), db.Forbidden)
		wantKind(t, second(s.Accounts.Users(ctx, w.ann, "", 0, 10)), db.Forbidden)
	})
}

func TestPeopleAreListedWithWhenTheyWereHereLast(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		_, session, err := s.Accounts.StartSession(ctx, accounts.NewSession{UserID: w.ann.ID, Life: 1e12})
		check(t, err)
		people := got[[]accounts.SeenUser](t)(s.Accounts.Users(ctx, w.admin, "", 0, 10))
		if len(people) != 3 || people[0].Name != "Ann" || people[0].SeenAt == nil || !people[0].SeenAt.Equal(session.SeenAt) || people[1].SeenAt != nil {
			t.Errorf("people: %+v", people)
		}
	})
}
