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
		cora, dora := modelstest.Person(t, s, "Cora", accounts.RoleCreator),
			modelstest.Person(t, s, "Dora", accounts.RoleCreator)
		w.Task = modelstest.Task(t, s, cora, "coras", "CPU")
		run, next := w.Score(t, s, w.Ann, 100), w.Score(t, s, w.Ann, 200)
		decide := map[string]func(accounts.User, int64, string) ([]boards.ChangedBoard, error){
			"disqualify": func(u accounts.User, id int64, why string) ([]boards.ChangedBoard, error) {
				return s.Disqualify(ctx, u, id, why)
			},
			"reinstate": func(u accounts.User, id int64, why string) ([]boards.ChangedBoard, error) {
				return s.Reinstate(ctx, u, id, why)
			},
		}
		for _, step := range []struct {
			by     accounts.User
			act    string
			id     int64
			why    string
			refuse db.ErrorKind // empty if the action succeeds
		}{
			{accounts.User{}, "disqualify", run.ID, "why not", db.Forbidden},
			{w.Ann, "disqualify", run.ID, "mine", db.Forbidden},
			{dora, "disqualify", run.ID, "not my task", db.Forbidden},
			{cora, "disqualify", run.ID, " \u3164\n", db.Invalid},
			{cora, "disqualify", run.ID, strings.Repeat("x", 1001), db.Invalid},
			{cora, "disqualify", 999, "there is none", db.NotFound},
			{cora, "reinstate", run.ID, "not disqualified", db.Forbidden},
			{w.Admin, "reinstate", run.ID, "not disqualified", db.Conflict},
			{cora, "disqualify", run.ID, "It returns a constant.", ""},
			{w.Admin, "disqualify", run.ID, "once more", db.Conflict},
			{dora, "reinstate", run.ID, "not mine", db.Forbidden},
			{cora, "reinstate", run.ID, "I was wrong.", ""},
			{w.Admin, "disqualify", run.ID, "It does, see line 3.", ""},
			{cora, "reinstate", run.ID, "an admin decided", db.Forbidden},
		} {
			changes, err := decide[step.act](step.by, step.id, step.why)
			if db.KindOf(err) != step.refuse && (err != nil || step.refuse != "") || step.refuse == "" &&
				len(changes) != 1 {
				t.Errorf("%s to %s (%s): %v, %v; want %q", step.by.Name, step.act, step.why, changes, err, step.refuse)
			}
		}
		if place := modelstest.Got[boards.Standing](t)(s.Boards.PersonPlace(ctx, w.Task.VersionID, "CPU",
			w.Ann.ID)); place.RunID != next.ID {
			t.Errorf("Ann's entry is run %d, want her next best %d", place.RunID, next.ID)
		}
		now := modelstest.Got[work.Run](t)(s.Work.Run(ctx, run.ID))
		if now.DisqualifiedBy != w.Admin.ID || now.DisqualifiedReason != "It does, see line 3." || now.Valid() {
			t.Errorf("the run says %+v", now)
		}
		var log []string
		for _, a := range modelstest.Got[[]accounts.AuditEntry](t)(s.Accounts.RunDecisions(ctx, run.ID)) {
			log = append(log, fmt.Sprintf("%s %s: %s", a.ActorName, a.ActName, a.Detail))
		}
		want := []string{"Cora disqualify: It returns a constant.", "Cora reinstate: I was wrong.",
			"Root disqualify: It does, see line 3."}
		if diff := cmp.Diff(want, log); diff != "" {
			t.Errorf("decisions:\n%s", diff)
		}
	})
}

// queue returns the review queue as "run: kinds".
func queue(t *testing.T, s *models.Store, who accounts.User) (out []string) {
	t.Helper()
	for _, run := range modelstest.Got[[]models.FlaggedRun](t)(s.ReviewQueue(t.Context(), who,
		models.ReviewFilter{Limit: 10})) {
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
		run, waiting := w.Score(t, s, w.Ann, 100), w.Submit(t, s, w.Ann)
		modelstest.WantKind(t, s.ReportRun(ctx, accounts.User{}, run.ID, "it cheats"), db.Forbidden)
		modelstest.WantKind(t, s.ReportRun(ctx, w.Ann, run.ID, "it cheats"), db.Forbidden)
		modelstest.WantKind(t, s.ReportRun(ctx, w.Ben, waiting.ID, "it will cheat"), db.Conflict)
		modelstest.WantKind(t, s.ReportRun(ctx, w.Ben, run.ID, ""), db.Invalid)
		modelstest.Check(t, s.ReportRun(ctx, w.Ben, run.ID, "It is faster than the memory."))
		modelstest.WantKind(t, s.ReportRun(ctx, w.Ben, run.ID, "again"), db.Conflict)
		modelstest.Check(t, s.ReportRun(ctx, cora, run.ID, "I think so, too."))
		if diff := cmp.Diff([]string{fmt.Sprintf("%d: report report", run.ID)}, queue(t, s, w.Admin)); diff != "" {
			t.Errorf("queue:\n%s", diff)
		}
		if list := queue(t, s, cora); len(list) != 0 { // the run belongs to another author's task
			t.Errorf("another author's queue holds %v", list)
		}
		modelstest.WantKind(t, modelstest.Second(s.ReviewQueue(ctx, w.Ben, models.ReviewFilter{Limit: 10})),
			db.Forbidden)
		now := modelstest.Got[work.Run](t)(s.Work.Run(ctx, run.ID))
		for who, want := range map[*accounts.User]int{&w.Admin: 2, &w.Ben: 1, &w.Ann: 0, {}: 0} {
			if flags := modelstest.Got[[]models.FlagWithReporter](t)(s.Flags(ctx, *who, now,
				w.Task)); len(flags) != want {
				t.Errorf("%q sees %d flags, want %d", who.Name, len(flags), want)
			}
		}
		_, err := s.DismissFlags(ctx, w.Ben, run.ID, "fine")
		modelstest.WantKind(t, err, db.Forbidden)
		_, err = s.DismissFlags(ctx, w.Admin, run.ID, "The counters agree.")
		modelstest.Check(t, err)
		_, err = s.DismissFlags(ctx, w.Admin, run.ID, "once more")
		modelstest.WantKind(t, err, db.Conflict)
		if list := queue(t, s, w.Admin); len(list) != 0 {
			t.Errorf("after a look the queue holds %v", list)
		}
		modelstest.Check(t, s.ReportRun(ctx, w.Ben, run.ID, "Look at line 7."))
		modelstest.Check(t, modelstest.Second(s.Disqualify(ctx, w.Admin, run.ID, "Line 7 knows the seed.")))
		flags := modelstest.Got[[]models.FlagWithReporter](t)(s.Flags(ctx, w.Ben, now, w.Task))
		if len(flags) != 2 || flags[0].Resolution != "The counters agree." || flags[1].Resolution != "disqualified" ||
			flags[1].ClosedBy != w.Admin.ID {
			t.Errorf("the reporter sees %+v", flags)
		}
	})
}

func TestReportsAreLimitedPerHour(t *testing.T) {
	s := modelstest.Open(t)
	w := newWorld(t, s)
	for i := range 11 {
		user := modelstest.Person(t, s, fmt.Sprint("p", i), accounts.RoleUser)
		err := s.ReportRun(t.Context(), w.Ben, w.Score(t, s, user, 100).ID, "all of them")
		if i < 10 && err != nil || i == 10 && db.KindOf(err) != db.TooMany {
			t.Errorf("report %d: %v", i+1, err)
		}
	}
}

func TestReportsOnATaskThatOneCannotSeeAreNotFound(t *testing.T) {
	s := modelstest.Open(t)
	w := newWorld(t, s)
	run := w.Score(t, s, w.Ann, 100)
	hidden := catalog.TaskSettings{Devices: []string{"CPU"}, Visibility: catalog.Hidden}
	modelstest.Check(t, modelstest.Second(s.Catalog.UpdateTask(t.Context(), w.Admin, w.Task.ID, hidden)))
	modelstest.WantKind(t, s.ReportRun(t.Context(), w.Ben, run.ID, "it cheats"), db.NotFound)
}

// TestTheSiteFlagsEntriesAndNeverJudges checks that hints in the source and differing clocks bring an entry into the
// review queue, but not a run that is on no board.
func TestTheSiteFlagsEntriesAndNeverJudges(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		submit := func(user accounts.User, mode job.Mode, source string) work.Run {
			_, runs, err := s.Submissions.Submit(ctx,
				submissions.NewSubmission{User: user, TaskID: w.Task.ID, Devices: []string{"CPU"}, Mode: mode,
					Source: []byte(source)})
			modelstest.Check(t, err)
			return runs[0]
		}
		honest := submit(w.Ben, job.ModeRanked, "int main() { return 0; }")
		odd := submit(w.Ann, job.ModeRanked, "int a;\nvoid *p = dlsym(0, \"clock_gettime\");")
		submit(w.Ann, job.ModeTest, "void *p = dlsym(0, \"clock_gettime\");")
		modelstest.Finish(t, s, honest, 90)
		if list := queue(t, s, w.Admin); len(list) != 0 {
			t.Errorf("before it stands on a board: %v", list)
		}
		modelstest.Finish(t, s, odd, 100)
		late := submit(w.Ben, job.ModeRanked, "int late;")
		attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(ctx, late.WorkRef()))
		result := modelstest.Judge(modelstest.Result(attempt, 50), 50, 90_000)
		modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx, result,
			work.ResultFindings{Score: &work.Score{NS: 50}})))
		if diff := cmp.Diff([]string{fmt.Sprintf("%d: source", odd.ID), fmt.Sprintf("%d: clocks", late.ID)},
			queue(t, s, w.Admin)); diff != "" {
			t.Errorf("queue:\n%s", diff)
		}
		flags := modelstest.Got[[]models.FlagWithReporter](t)(s.Flags(ctx, w.Admin, odd, w.Task))
		if len(flags) != 1 || !strings.HasPrefix(flags[0].Detail, "line 2 reaches into the process (dlsym") {
			t.Errorf("the flags say %+v", flags)
		}
		modelstest.Check(t, modelstest.Second(s.Disqualify(ctx, w.Admin, odd.ID, "It replaces the clock.")))
		again := submit(w.Ann, job.ModeRanked, "int a;\nvoid *p = dlsym(0, \"clock_gettime\");")
		modelstest.Finish(t, s, again, 100)
		flags = modelstest.Got[[]models.FlagWithReporter](t)(s.Flags(ctx, w.Admin, again, w.Task))
		if want := fmt.Sprintf("the same source as run %d, which is disqualified; line 2", odd.ID); len(flags) != 1 ||
			!strings.HasPrefix(flags[0].Detail, want) {
			t.Errorf("the same source once more: %+v", flags)
		}
		if run := modelstest.Got[work.Run](t)(s.Work.Run(ctx, again.ID)); !run.Valid() {
			t.Error("a flag took a run off its board")
		}
	})
}

func TestDeletingFreesNoLimit(t *testing.T) {
	modelstest.EachConfig(t, models.Config{SubmissionLimits: submissions.SubmissionLimits{SubmissionsPerHour: 2}},
		func(t *testing.T, s *models.Store) {
			w, ctx := newWorld(t, s), t.Context()
			first, kept := w.Score(t, s, w.Ann, 100), w.Score(t, s, w.Ann, 90)
			modelstest.WantKind(t, modelstest.Second(s.DeleteSubmission(ctx, w.Ann, first.SubmissionID, "")),
				db.Conflict)
			old := "update submissions set created_at = '2020-01-01 00:00:00+00:00'"
			modelstest.Check(t, modelstest.Second(s.SQL().ExecContext(ctx, old)))
			modelstest.Check(t, modelstest.Second(s.Disqualify(ctx, w.Admin, kept.ID, "It cheats.")))
			modelstest.WantKind(t, modelstest.Second(s.DeleteSubmission(ctx, w.Ben, first.SubmissionID,
				"it annoys me")),
				db.Forbidden)
			modelstest.Check(t, modelstest.Second(s.DeleteSubmission(ctx, w.Ann, first.SubmissionID, "")))
			modelstest.WantKind(t, modelstest.Second(s.DeleteSubmission(ctx, w.Ann, kept.SubmissionID, "")),
				db.Forbidden)
			modelstest.WantKind(t, modelstest.Second(s.DeleteSubmission(ctx, w.Admin, kept.SubmissionID, " ")),
				db.Invalid)
			modelstest.Check(t, modelstest.Second(s.DeleteSubmission(ctx, w.Admin, kept.SubmissionID,
				"It holds someone's key.")))
		})
}

func TestRenamingShowsOnEveryBoardAndIsLimited(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		w.Score(t, s, w.Ann, 100)
		before := modelstest.Got[int64](t)(s.Boards.ChangeNumber(ctx, w.Task.VersionID, "CPU"))
		changes := modelstest.Got[[]boards.ChangedBoard](t)(s.RenameUser(ctx, w.Ann, w.Ann.ID, "Anna"))
		if diff := cmp.Diff([]boards.ChangedBoard{{VersionID: w.Task.VersionID, Device: "CPU",
			ChangeNumber: before + 1}},
			changes); diff != "" {
			t.Errorf("changes:\n%s", diff)
		}
		if changes := modelstest.Got[[]boards.ChangedBoard](t)(s.RenameUser(ctx, w.Admin, w.Ben.ID,
			"Benno")); len(changes) != 0 {
			t.Errorf("a person on no board changed %v", changes)
		}
		modelstest.WantKind(t, modelstest.Second(s.RenameUser(ctx, w.Ben, w.Ann.ID, "Fool")), db.Forbidden)
		modelstest.Check(t, modelstest.Second(s.RenameUser(ctx, w.Ann, w.Ann.ID, "Annabel")))
		modelstest.Check(t, modelstest.Second(s.RenameUser(ctx, w.Ann, w.Ann.ID, "Ann")))
		modelstest.WantKind(t, modelstest.Second(s.RenameUser(ctx, w.Ann, w.Ann.ID, "Anne")), db.TooMany)
		audits := modelstest.Got[[]accounts.AuditEntry](t)(s.Accounts.AuditLog(ctx, w.Admin, "Root", 0, 10))
		if len(audits) == 0 || audits[0].ActName != "rename" || audits[0].Detail != "from Ben to Benno" {
			t.Errorf("the log says %+v", audits)
		}
		modelstest.WantKind(t, modelstest.Second(s.Accounts.AuditLog(ctx, w.Ann, "", 0, 10)), db.Forbidden)
		modelstest.WantKind(t, modelstest.Second(s.Accounts.Users(ctx, w.Ann, "", 0, 10)), db.Forbidden)
	})
}

func TestPeopleAreListedWithWhenTheyWereHereLast(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		_, session, err := s.Accounts.StartSession(ctx, accounts.NewSession{UserID: w.Ann.ID, Lifetime: 1e12})
		modelstest.Check(t, err)
		people := modelstest.Got[[]accounts.UserWithLastVisit](t)(s.Accounts.Users(ctx, w.Admin, "", 0, 10))
		if len(people) != 3 || people[0].Name != "Ann" || people[0].SeenAt == nil ||
			!people[0].SeenAt.Equal(session.SeenAt) || people[1].SeenAt != nil {
			t.Errorf("people: %+v", people)
		}
	})
}
