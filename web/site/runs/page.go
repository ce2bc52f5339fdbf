package runs

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/scores"
	"warpboard/models/submissions"
	"warpboard/models/work"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/site"
)

// LiveRunsOf reads the runs of a submission and the ID of their last event. The page's stream continues after that
// event.
func (s *Runs) LiveRunsOf(c *fiber.Ctx, seen SubmissionAccess) (live views.LiveRuns, err error) {
	family, err := s.site.Store.Work.SubmissionRuns(c.UserContext(), seen.Submission.ID)
	if err != nil {
		return live, err
	}
	if live.Runs, err = s.cards(c.UserContext(), seen, family); err != nil {
		return live, err
	}
	for i := range live.Runs {
		card := &live.Runs[i]
		s.offerRunAgain(c, seen, card)
		live.SelfMeasured = live.SelfMeasured || card.MeasuredByTaskProgram
		live.CanCancel = live.CanCancel || !card.HasEnded() && (site.Actor(c).IsAdmin() || site.Actor(c).ID == seen.Submission.UserID)
	}
	if family.HasUnfinished {
		live.EventsURL = fmt.Sprintf("/submissions/%d/events?after=%d", seen.Submission.ID, family.LastEventID)
	}
	return live, nil
}

// CardForViewer returns the card of a run, with the actions that the viewer may perform.
func (s *Runs) CardForViewer(c *fiber.Ctx, seen RunAccess) (views.RunCard, error) {
	profiles, err := s.site.Store.Work.ProfileRuns(c.UserContext(), seen.Run)
	if err != nil {
		return views.RunCard{}, err
	}
	cards, err := s.cards(c.UserContext(), seen.SubmissionAccess, work.SubmissionRuns{
		Runs:     []work.Run{seen.Run},
		Profiles: profiles,
	})
	if err != nil {
		return views.RunCard{}, err
	}
	s.offerRunAgain(c, seen.SubmissionAccess, &cards[0])
	return cards[0], nil
}

// offerRunAgain adds the action "run again" to a card, if the viewer owns the run and the task accepts submissions.
func (s *Runs) offerRunAgain(c *fiber.Ctx, seen SubmissionAccess, card *views.RunCard) {
	if seen.IsOwner && seen.MaySeeTask && s.site.DeadlineOf(seen.Task).AcceptsSubmissions() {
		card.RerunToken = s.site.Page(c, "", "").CSRF
	}
}

// SubmissionRows converts submissions to the rows of a table.
func (s *Runs) SubmissionRows(
	ctx context.Context, viewer accounts.User, f submissions.SubmissionFilter,
) ([]submissions.SubmissionSummary, error) {
	f.OnlyTableColumns = true
	return s.site.Store.Submissions.Submissions(ctx, viewer, f)
}

// BenchmarkTimes returns the mean times of passed benchmarks in these submissions, by run ID.
func (s *Runs) BenchmarkTimes(ctx context.Context, rows []submissions.SubmissionSummary) (map[int64]float64, error) {
	var timed []work.Run
	var ids []int64
	for _, row := range rows {
		for _, run := range row.Runs {
			if run.Mode == job.ModeBenchmark && run.State == work.StateDone {
				timed, ids = append(timed, run), append(ids, run.ID)
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	stages, err := s.site.Store.Work.StagesOf(ctx, ids...)
	times := make(map[int64]float64, len(timed))
	for _, run := range timed {
		times[run.ID], _ = scores.BenchmarkScore(StageOfScore(StagesOfAttempt(run, stages[run.ID])))
	}
	return times, err
}

// TaskSubmissions returns the rows of a person's latest submissions to a task.
func (s *Runs) TaskSubmissions(
	ctx context.Context, person accounts.User, task catalog.Task, limit int,
) ([]submissions.SubmissionSummary, error) {
	list, err := s.site.Store.Submissions.LatestToTask(ctx, person.ID, task.ID, limit)
	for i := range list {
		list[i].UserName, list[i].TaskSlug, list[i].TaskTitle = person.Name, task.Slug, task.Title
	}
	return list, err
}

// TaskPage returns the page of a task from its files, without boards and people.
func (s *Runs) TaskPage(
	code *views.Highlighter, page views.Page, task catalog.Task, version int, b *tasks.Bundle,
) (shown views.TaskPage, err error) {
	d := b.Definition
	shown = views.TaskPage{
		Page: page, Task: site.TaskLink(task), Lang: d.Lang, Version: version, Visibility: task.CurrentVisibility(), Deadline: s.site.DeadlineOf(task),
		Definition: d, Harness: views.HarnessName(d), Templates: slices.Sorted(maps.Keys(d.Templates)), Comments: task.CommentCount,
		Files: TaskSources(code, b),
	}
	shown.Description, err = code.RenderDescription(d.Description)
	return shown, err
}

// TaskSources lists the files of a task, the reference first, without templates.
func TaskSources(code *views.Highlighter, bundle *tasks.Bundle) (files []views.SourceFile) {
	shown := slices.DeleteFunc(slices.Clone(bundle.Definition.Files), tasks.File.IsSubmission)
	slices.SortStableFunc(shown, func(a, b tasks.File) int { return referenceFirstOrder(a.Name) - referenceFirstOrder(b.Name) })
	page := code.NewSourceLimiter()
	for _, f := range shown {
		files = append(files, page.ColorFile(f.Name, f.Name+"-", bundle.Files[f.Source]))
	}
	return files
}

func referenceFirstOrder(name string) int {
	if stem := path.Base(name); stem[:len(stem)-len(path.Ext(stem))] == "reference" {
		return 0
	}
	return 1
}

// BoardSummaries returns a summary of each of a task's boards, with its first entries (at most leaders).
func (s *Runs) BoardSummaries(ctx context.Context, task catalog.Task, leaders int) ([]views.BoardChip, error) {
	tops := make([]views.BoardChip, len(task.Devices))
	for i, device := range task.Devices {
		board, err := s.site.Store.Boards.Board(ctx, task.VersionID, device, boards.BoardPartQuery{Limit: leaders})
		if err != nil {
			return nil, err
		}
		tops[i].Device, tops[i].PeopleCount = device, board.PeopleCount
		for _, st := range board.Standings {
			tops[i].Leaders = append(tops[i].Leaders, boards.Leader{
				Rank: st.Rank, Tied: st.Tied, UserID: st.UserID, UserName: st.UserName, ScoreNS: st.ScoreNS,
				Interval: st.Interval,
			})
		}
	}
	return tops, nil
}
