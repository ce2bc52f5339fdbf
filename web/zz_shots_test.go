package web

import (
"bytes"
"warpboard/tasks"
	"context"
	"fmt"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestShots(t *testing.T) {
	dir := os.Getenv("SHOTS")
	if dir == "" {
		t.Skip()
	}
	_ = exec.Command
	only := os.Getenv("ONLY")
	s := newScene(t)
	b := s.signedIn("Ada Local", "admin")
	_ = url.Values{}
	_ = http.MethodGet
	cookie := b.cookie(sessionCookie)
	pages := map[string]string{
		"home": "/", "task": "/tasks/" + s.task.Slug, "board": "/tasks/" + s.task.Slug + "/boards/H200",
		"emptyboard": "/tasks/" + s.task.Slug + "/boards/CPU",
		"done":       fmt.Sprintf("/submissions/%d", s.done.SubmissionID), "source": fmt.Sprintf("/submissions/%d?tab=source", s.done.SubmissionID),
		"failed": fmt.Sprintf("/submissions/%d", s.failed.SubmissionID), "wrong": fmt.Sprintf("/submissions/%d", s.wrong.SubmissionID),
		"working": fmt.Sprintf("/submissions/%d", s.working.SubmissionID), "queued": fmt.Sprintf("/submissions/%d", s.queued.SubmissionID),
		"devices": "/devices", "me": "/me", "user": fmt.Sprintf("/users/%d", s.ada.ID), "new": "/tasks/new", "edit": "/tasks/" + s.task.Slug + "/edit",
		"notfound": "/nothing",
		"signin":   "/sign-in",
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox)
	actx, c1 := chromedp.NewExecAllocator(context.Background(), opts...)
	defer c1()
	ctx, c2 := chromedp.NewContext(actx)
	defer c2()
	for name, path := range pages {
		if only != "" && !strings.Contains(","+only+",", ","+name+",") {
			continue
		}
		for _, v := range []struct {
			n     string
			w     int64
			theme string
		}{{"desk-light", 1280, "light"}, {"phone-dark", 390, "dark"}, {"desk-dark", 1280, "dark"}, {"phone-light", 390, "light"}} {
			if f := os.Getenv("VAR"); f != "" && !strings.Contains(f, v.n) {
				continue
			}
			s.heartbeat()
			if _, err := chromedp.Call(ctx, network.ClearBrowserCookies, cdp.Empty{}); err != nil {
				t.Fatal(err)
			}
			if name != "signin" {
				if _, err := chromedp.Call(ctx, network.SetCookie, network.SetCookieParams{Name: sessionCookie, Value: cookie, URL: s.url}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.theme}}}); err != nil {
				t.Fatal(err)
			}
			var viol string
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(v.w, 900), chromedp.Navigate(s.url+path)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(400 * time.Millisecond)
			over, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`))
			if err != nil {
				t.Fatal(err)
			}
			_ = viol
			if over > 0 {
				t.Errorf("%s %s: %d px too wide", name, v.n, over)
				who, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`[...document.querySelectorAll('body *')].filter(e=>e.getBoundingClientRect().right>innerWidth+1 && !e.closest('.scroll,.source,.output,.tabs')).slice(0,6).map(e=>e.tagName+'.'+e.className+' '+e.textContent.slice(0,30)).join('\n')`))
				t.Log(who)
			}
			img, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
			if err != nil {
				t.Fatal(err)
			}
			os.WriteFile(filepath.Join(dir, name+"-"+v.n+".png"), img, 0o644)
		}
	}
}

func TestShots2(t *testing.T) {
	dir := os.Getenv("SHOTS")
	if dir == "" { t.Skip() }
	s := newScene(t)
	w := s.window().as(s.signedIn("Ada Local", "admin"))
	shot := func(name string) {
		for _, v := range []int64{1280, 390} {
			w.do(chromedp.EmulateViewport(v, 900))
			time.Sleep(500*time.Millisecond)
			img, err := chromedp.Run(w.ctx, chromedp.FullScreenshot(100))
			if err != nil { t.Fatal(err) }
			os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d.png", name, v)), img, 0o644)
		}
	}
	write := func(name string, bundle func(b *tasks.Bundle)) string {
		list, _ := tasks.Examples()
		for _, b := range list { if b.Name == "matmul_cuda" {
			bundle(b)
			var buf bytes.Buffer
			tasks.WriteZip(&buf, b)
			f := filepath.Join(t.TempDir(), name)
			os.WriteFile(f, buf.Bytes(), 0o644)
			return f
		} }
		return ""
	}
	w.open("/tasks/new")
	w.do(chromedp.SetUploadFiles("#zip", []string{write("mine.zip", func(b *tasks.Bundle){ b.Name = "my_task"; b.Definition.Title="My task" })}))
	w.eval(`document.querySelector("main .btn-main").click()`)
	w.until(`document.querySelector("[data-draft]")`)
	shot("preview")
	w.open("/tasks/"+s.task.Slug+"/edit")
	w.do(chromedp.SetUploadFiles("#zip", []string{write("new.zip", func(b *tasks.Bundle){ b.Definition.RankingBy="last"; b.Definition.Tests=b.Definition.Tests[1:]; b.Definition.Description += "\n\nMore."; b.Files["reference.cuh"]=append(b.Files["reference.cuh"], []byte("// x\n")...) })}))
	w.eval(`document.querySelector("#zip").form.requestSubmit()`)
	w.until(`document.querySelector("[data-draft]")`)
	shot("diff")
	w.open("/tasks/new")
	bad := filepath.Join(t.TempDir(), "bad.zip"); os.WriteFile(bad, []byte("no zip"), 0o644)
	w.do(chromedp.SetUploadFiles("#zip", []string{bad}))
	w.eval(`document.querySelector("main .btn-main").click()`)
	w.until(`document.querySelector("[role=alert]")`)
	shot("bad")
	w.open("/me")
	w.do(chromedp.SetValue("#token-name", "laptop"))
	w.eval(`document.querySelector("form[action='/me/tokens']").requestSubmit()`)
	w.until(`document.querySelector("#new-token")`)
	shot("token")
	w.open("/tasks/"+s.task.Slug)
	w.eval(`document.querySelector("#source").scrollIntoView()`)
	w.until(`document.querySelector(".cm-editor")`)
	shot("editor")
}
