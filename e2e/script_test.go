package e2e

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/work"
)

// scripts run a script where a page shows them unescaped; attackingTitle does in the length of a title.
const (
	attackingTitle = `</title><script>window.hacked=9</script><img src=x onerror="window.hacked=10">`
	scripts        = `</title></textarea></pre></script><script>window.hacked=1</script><img src=x onerror="window.hacked=2"><svg onload=window.hacked=3>`
)

// TestStoredTextCannotScriptAPage stores scripts wherever people and programs can store text, and
// opens every page that shows them.
func TestStoredTextCannotScriptAPage(t *testing.T) {
	t.Parallel()
	s := startSite(t, "--tasks", attackingTask(t), "--cpu-slots", "1", "--warm-python", "0", "--ranked-processes", "1")
	mallory := s.person(t, scripts[:60]+`<img src=x onerror=window.hacked=4>`, accounts.RoleUser)
	printing := kernel(fmt.Sprintf("static const char text[] = %q; fputs(text, stdout); fputs(text, stderr);", scripts+"\x1b]0;title\a\n"))
	passed := mallory.submit(job.ModeRanked, "/* "+scripts+" */\n"+printing)
	failed := mallory.submit(job.ModeTest, "#error "+scripts+"\n"+kernel(""))
	wrong := mallory.submit(job.ModeTest, strings.Replace(printing, "data.size +", "data.size -", 1))
	for id, state := range map[int64]work.RunState{passed: work.StateDone, failed: work.StateFailed, wrong: work.StateFailed} {
		if err := wantState(mallory.ended(id), state); err != nil {
			t.Fatal(err)
		}
	}
	w := s.window(t)
	w.signIn(`Eve <img src=x onerror=window.hacked=5>`)
	for _, path := range []string{
		"/", "/tasks/sum", "/tasks/sum/edit", "/tasks/sum/boards/CPU", "/devices", "/me", "/users/2", "/users/3",
		"/submissions/1", "/submissions/1?tab=source", "/submissions/2", "/submissions/2?tab=source", "/submissions/3",
		"/sign-in?next=" + url.QueryEscape("javascript:window.hacked=6"), "/nothing/" + url.PathEscape(scripts),
	} {
		w.Open(path)
		w.Until(`document.readyState == "complete"`)
		if got := w.Eval(`[window.hacked ?? "", document.querySelectorAll("body img, body script:not([src^='/static/']), [onerror], [onload]").length]`); got != ",0" {
			t.Errorf("%s: %s %s", path, got, w.Eval(`[...document.querySelectorAll("body img, body script:not([src^='/static/']), [onerror], [onload]")].map(e => e.outerHTML).join("\n")`))
		}
	}
	w.Open("/submissions/1")
	w.Shows("main", "<script>window.hacked=1</script>") // it is there, as text
}

// attackingTask makes a folder with a task whose title and description attack; returns its parent.
func attackingTask(t *testing.T) string {
	t.Helper()
	parent := t.TempDir()
	dir := filepath.Join(parent, smallTask)
	if err := os.CopyFS(dir, os.DirFS("testdata/task")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "task.yml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "title: Sum of two", "title: 'Sum "+attackingTitle+"'", 1)
	changed = strings.Replace(changed, "description: |\n", "description: |\n  "+scripts+"\n  [link](javascript:window.hacked=7) <iframe src=javascript:window.hacked=8></iframe>\n\n", 1)
	if err := os.WriteFile(file, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	return parent
}
