package boards_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestABoardThatIsKeptIsTheBoardAsItIs checks that a process with cached boards shows the same pages as a process that
// has just started, even if another process has changed the board. No one may see another person's data.
func TestABoardThatIsKeptIsTheBoardAsItIs(t *testing.T) {
	modelstest.Pair(t, func(t *testing.T, here, there *models.Store) {
		ctx, s := t.Context(), webtest.StartAt(t, "127.0.0.1:0", there)
		admin := modelstest.Person(t, here, "admin", accounts.RoleAdmin)
		first, last := modelstest.Person(t, here, "first", accounts.RoleUser),
			modelstest.Person(t, here, "last", accounts.RoleUser)
		task := modelstest.Task(t, here, admin, "vectoradd", "CPU")
		score := func(who accounts.User, ns float64) work.Run {
			run := modelstest.Submit(t, here, who, task)[0]
			modelstest.Finish(t, here, run, ns)
			return run
		}
		for i := range 50 { // as many as one page shows
			score(modelstest.Person(t, here, fmt.Sprint("person", i), accounts.RoleUser), 2000+float64(100*i))
		}
		score(last, 9000)
		record, fast := score(first, 1000), work.Run{}
		for _, step := range []struct {
			what string
			do   func() error
		}{
			{"nothing", func() error { return nil }},
			{"a better run", func() error { fast = score(last, 900); return nil }},
			{"another name", func() error { return webtest.Second(here.RenameUser(ctx, first, first.ID, "premier")) }},
			{"a disqualification", func() error {
				return webtest.Second(here.Disqualify(ctx, admin, fast.ID,
					"It knew the answers."))
			}},
			{"a note", func() error { return webtest.Second(here.SetRunNote(ctx, first, record.ID, "Unrolled.")) }},
		} {
			if err := step.do(); err != nil {
				t.Fatal(step.what, err)
			}
			for name, user := range map[string]accounts.User{"a visitor": {}, "first": first, "last": last} {
				fresh := webtest.StartAt(t, "127.0.0.1:0", here) // a new process for each user, with an empty cache
				for _, path := range []string{"", "?page=2", "?at=" + time.Now().UTC().Format(time.DateOnly)} {
					path = "/tasks/" + task.Slug + "/boards/CPU" + path
					want := webtest.BoardOf(fresh, user, path)
					for range 2 {
						if diff := cmp.Diff(want, webtest.BoardOf(s, user, path)); diff != "" {
							t.Errorf("%s, read by %s after %s:\n%s", path, name, step.what, diff)
						}
					}
				}
				fresh.Stop()
			}
		}
	})
}
