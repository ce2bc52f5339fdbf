package playground_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"

	"warpboard/evaluator/kernelrun"
	"warpboard/models/accounts"
	"warpboard/web/webtest"
)

// TestPlaygroundShowsTheResultBesideTheCode runs the example that the page opens with, and stays on the page.
func TestPlaygroundShowsTheResultBesideTheCode(t *testing.T) {
	s := webtest.NewEvalSite(t)
	sc := &webtest.Scene{Site: s.Site}
	b := sc.BrowserOf(s.User)
	w := sc.Window().As(b)
	w.Visit("/playground")
	w.Until(`document.querySelectorAll(".cm-content").length == 2 || document.querySelector("#reference").scrollIntoView()`)
	w.Shows(".cm-content", "def softmax(x)")
	w.Eval(`document.querySelector(".cm-content").focus()`)
	w.Do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	w.Shows("#result .stage-now", "Waiting")
	finished(s, b, kernelrun.Result{Report: kernelrun.Report{Compiled: true, Correctness: true,
		RuntimeStats: &kernelrun.Stats{Mean: 0.0125}}})
	w.Until(`document.querySelector("#result [data-state=completed]")`)
	w.Until(`location.pathname == "/playground"`)
	w.Eval(`document.querySelector("[name=timeout]").value = "soon"`)
	w.Click("[data-key=enter]")
	w.Until(`document.querySelector("#result [role=alert] a")?.hash == "#timeout"`)
	w.RefusedNothing()
}

func TestPlaygroundShowsTheFieldsOfTheChosenKind(t *testing.T) {
	s := webtest.NewEvalSite(t)
	sc := &webtest.Scene{Site: s.Site}
	w := sc.Window().As(sc.BrowserOf(s.User))
	w.Visit("/playground?example=triton")
	shown := `document.querySelector("[data-launch]").checkVisibility()`
	w.Until(shown)
	w.Eval(`document.querySelector("#kernel_type").value = "torch"`)
	w.Until("!" + shown)
	for fill, want := range map[string]string{"randn": "Mean, Standard deviation, Seed",
		"uniform": "Lowest, Highest, Seed", "full": "Value", "arange": "Start, Step", "zeros": ""} {
		w.Eval(fmt.Sprintf(`document.querySelector("#args-0-init").value = %q`, fill))
		w.Until(fmt.Sprintf(`["first", "second", "seed"].map((of) => document.querySelector("label[for=args-0-" + of + "]")).filter((label) => label.checkVisibility()).map((label) => label.innerText.trim()).join(", ") == %q`, want))
	}
	for _, width := range []int64{1280, 390} {
		w.Do(chromedp.EmulateViewport(width, 900))
		w.Until(`document.documentElement.scrollWidth == innerWidth`)
	}
}

// TestHiddenLaunchSizesAreNotSent checks that the request omits values of hidden fields, which may belong to the
// previous kernel.
func TestHiddenLaunchSizesAreNotSent(t *testing.T) {
	s := webtest.NewEvalSite(t)
	for kind, want := range map[string]bool{"torch": false, "triton": true} {
		_, resp := playground(s, tryForm(url.Values{"kernel_type": {kind}, "kernel": {"def f(x): return x"},
			"launch-grid-x": {"7"}, "launch-num_warps": {""}}))
		webtest.WantStatus(t, resp, http.StatusSeeOther)
		e, err := s.Cfg.Store.Work.Evaluation(t.Context(), resp.Header.Get("Location")[len("/evaluations/"):])
		if err != nil {
			t.Fatal(err)
		}
		io := requestOf(t, e).CustomKernel.IOContract
		launch, _ := io["launch"].(map[string]any)
		if got := launch["grid"] != nil; got != want {
			t.Errorf("%s: sent %s", kind, fmt.Sprint(io))
		}
	}
}

func TestCreatorsMakeATaskOfThePlayground(t *testing.T) {
	s := webtest.NewEvalSite(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	form := creator.Page("/playground", http.StatusOK).Find("main form")
	if form.Find("button[value=task]").Length() != 1 ||
		s.Browser().Page("/playground", http.StatusOK).Find("button[value=task]").Length() != 0 {
		t.Error("the way to a task is not a creator's")
	}
	values := tryForm(url.Values{"do": {"task"}, "kernel_type": {"torch"}, "kernel": {"def softmax(x): return x"},
		"kernel_name": {"softmax"},
		"reference":   {"def softmax(x): return x"}, "reference_type": {"torch"}, "launch-grid-x": {""},
		"launch-num_warps": {""}})
	resp := creator.Post("/playground", values)
	webtest.WantStatus(t, resp, http.StatusOK)
	doc := webtest.Document(t, creator.Upload("/tasks/new", "zip", "softmax.zip", []byte(webtest.Body(t, resp)), nil),
		http.StatusOK)
	webtest.WantText(t, doc, "[data-draft=softmax]", "reference.py")
	values.Set("reference", "")
	webtest.WantText(t, webtest.Document(t, creator.Post("/playground", values), http.StatusUnprocessableEntity),
		"#reference-problem", "needs a reference")
}
