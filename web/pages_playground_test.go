package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/kernelrun"
	"warpboard/models/work"
	"warpboard/web/site"
)

func TestThePlaygroundMakesAnEvaluationOfItsForm(t *testing.T) {
	s := newEvalSite(t)
	b, resp := s.playground(tryForm(nil))
	wantStatus(t, resp, http.StatusSeeOther)
	e := s.waitForState(work.EvaluationSubmitted)
	if got := resp.Header.Get("Location"); got != "/evaluations/"+e.ID || e.UserID != s.user.ID || e.Device != "CPU" || e.Kind != "evaluate" {
		t.Errorf("sent to %s; the evaluation is %+v", got, e)
	}
	e, err := s.site.Store.Work.Evaluation(t.Context(), e.ID)
	if err != nil {
		t.Fatal(err)
	}
	r := requestOf(t, e)
	if diff := cmp.Diff(contractOf(t, wantContract), contractOf(t, jsonText(r.Custom.IO))); diff != "" {
		t.Error(diff)
	}
	if r.Custom.Source != "@triton.jit\ndef add(x, n): pass" || r.Custom.Metadata["kernel_name"] != "add" || r.NumTrials != 12 || r.Timeout != 30 || r.L2Flush {
		t.Errorf("request: %+v", r)
	}
	doc := b.page("/evaluations/"+e.ID, http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, ".stage-now", "submitted")
	if doc.Find("[hx-trigger]").Length() != 1 {
		t.Error("the page does not renew itself")
	}
	again := b.page("/playground?from="+e.ID, http.StatusOK)
	checkSound(t, again)
	if diff := cmp.Diff(contractOf(t, wantContract), contractOf(t, again.Find("#contract").Text())); diff != "" {
		t.Errorf("opened again: %s", diff)
	}
	wantStatus(t, b.post("/evaluations/"+e.ID+"/cancel", nil), http.StatusSeeOther)
	s.waitForState(work.EvaluationCancelled)
}

func TestAReferenceMakesItAComparison(t *testing.T) {
	s := newEvalSite(t)
	_, resp := s.playground(tryForm(url.Values{"reference": {"def f(x, n): return x"}, "reference_type": {"torch"}, "reference_name": {"f"},
		"contract": {`{"args": []}`}, "reference_contract": {"null"}, "kernel_metadata": {`{"note": 1}`}, "atol": {"0.5"}, "rtol": {""}}))
	wantStatus(t, resp, http.StatusSeeOther)
	e, err := s.site.Store.Work.Evaluation(t.Context(), s.waitForState(work.EvaluationSubmitted).ID)
	if err != nil {
		t.Fatal(err)
	}
	r := requestOf(t, e)
	if r.Kind != kernelrun.Compare || r.Ref.IO != nil || r.Ref.Metadata["function_name"] != "f" || r.ATol != 0.5 || r.RTol != 0.01 {
		t.Errorf("request: %+v, reference %+v", r, r.Ref)
	}
	if len(r.Custom.IO["args"].([]any)) != 0 || fmt.Sprint(r.Custom.Metadata["note"]) != "1" || r.Custom.Metadata["kernel_name"] != "add" {
		t.Errorf("the JSON did not count: %+v", r.Custom)
	}
}

func TestAFormMistakeIsSaidAtItsField(t *testing.T) {
	s := newEvalSite(t)
	for _, test := range []struct{ field, typed, says string }{
		{"kernel", "", "Paste a kernel"},
		{"contract", `{"args": [`, "not JSON"},
		{"contract", `{"args": [{"type": "int"}]}`, "args.0.name: Field required"},
		{"kernel_metadata", "[1]", "Write an object"},
		{"args-0-shape", "64, batch", "valid integer"},
		{"args-0-second", "many", "valid number"},
		{"args-2-value", "1.5", "whole number"},
		{"args-2-name", "", "Name this argument"},
		{"launch-grid-x", "3; rm", "valid integer"},
		{"launch-num_warps", "few", "valid integer"},
		{"num_trials", "0", "at least 1"},
		{"timeout", "soon", "valid integer"},
		{"gpu_type", "B200", "not attached"},
	} {
		t.Run(test.field+" "+test.typed, func(t *testing.T) {
			_, resp := s.playground(tryForm(url.Values{test.field: {test.typed}}))
			doc := document(t, resp, http.StatusUnprocessableEntity)
			checkSound(t, doc)
			wantText(t, doc, `[id="`+test.field+`-problem"]`, test.says)
			field := doc.Find(`[name="` + test.field + `"]`)
			if got := field.AttrOr("value", strings.TrimPrefix(field.Text(), "\n")); field.Is("input, textarea") && got != test.typed {
				t.Errorf("the field holds %q, not what was typed", got)
			}
			if doc.Find("#args-0-dtype option[selected]").Text() != "float16" {
				t.Error("another field was forgotten")
			}
		})
	}
	if list, err := s.site.Store.Work.Evaluations(t.Context(), work.Asker{User: s.user}, 0, 1); err != nil || len(list) != 0 {
		t.Errorf("a mistake made %v, %v", list, err)
	}
}

func TestRowsAreAddedAndWrittenAsJSONWithoutScripts(t *testing.T) {
	s := newEvalSite(t)
	_, resp := s.playground(tryForm(url.Values{"do": {"row"}}))
	doc := document(t, resp, http.StatusOK)
	if doc.Find("#args-3-name").Length() != 1 || doc.Find("#args-2-value").AttrOr("value", "") != "2048" {
		t.Error("there is no fourth row beside what was typed")
	}
	_, resp = s.playground(tryForm(url.Values{"do": {"json"}}))
	doc = document(t, resp, http.StatusOK)
	if diff := cmp.Diff(contractOf(t, wantContract), contractOf(t, doc.Find("#contract").Text())); diff != "" {
		t.Error(diff)
	}
}

func TestVisitorsSeeThePlaygroundAndRunNothing(t *testing.T) {
	s := newEvalSite(t)
	visitor := s.browser()
	doc := visitor.page("/playground", http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, "main", "Sign in to run")
	if doc.Find("button[value=run]").Length() != 0 {
		t.Error("a visitor can press Run")
	}
	wantStatus(t, visitor.post("/playground", tryForm(nil)), http.StatusUnauthorized)
	b, resp := s.playground(tryForm(url.Values{site.CSRFField: {"forged"}}))
	wantStatus(t, resp, http.StatusForbidden)
	if _, resp = s.playground(tryForm(nil)); resp.StatusCode != http.StatusSeeOther {
		t.Fatal(resp.Status)
	}
	path := resp.Header.Get("Location")
	wantStatus(t, visitor.get(path), http.StatusNotFound)
	wantStatus(t, visitor.post(path+"/cancel", nil), http.StatusNotFound)
	wantStatus(t, b.get("/evaluations/none"), http.StatusNotFound)
}

func TestTheResultPageShowsWhatWasMeasured(t *testing.T) {
	s := newEvalSite(t)
	b, resp := s.playground(tryForm(url.Values{"reference": {"x"}, "reference_type": {"torch"}}))
	wantStatus(t, resp, http.StatusSeeOther)
	speedup, passed := 1.84, 5
	doc := s.finished(b, kernelrun.Result{Worker: "rack-7", Name: "NVIDIA H200", Report: kernelrun.Report{
		Compiled: true, Correctness: true, ProfilingMethod: "cuda_graph", TotalTrials: 5, TrialsPassed: &passed,
		RuntimeStats: &kernelrun.Stats{Mean: 0.0125, Std: 0.0001, Min: 0.012, Max: 0.014, Median: 0.01249, Percentile95: 0.013, Percentile99: 0.0135},
		RefRuntime:   &kernelrun.Stats{Mean: 0.023, Std: 0.0002, Min: 0.022, Max: 0.024, Median: 0.02301, Percentile95: 0.0233, Percentile99: 0.0237},
		Speedup:      &speedup, SpeedupInterval: []float64{1.82, 1.86}, GraphError: "no graph\n  at all",
	}, Metrics: map[string]kernelrun.Metrics{"custom": {Device: map[string]map[string]any{"memory": {"dram_throughput": 71.5}}}}})
	checkSound(t, doc)
	wantText(t, doc, "[data-time=Mean]", "12.50 µs 23.00 µs")
	wantText(t, doc, "[data-time='99 %']", "13.50 µs 23.70 µs")
	if columns := doc.Find("[data-time=Mean]").Children().Length(); columns != 3 {
		t.Errorf("the table of times has %d columns: more than 3 do not fit beside the form", columns)
	}
	wantText(t, doc, "[data-speedup]", "×1.84")
	for _, text := range []string{"×1.82 and ×1.86", "cuda_graph", "5 of 5", "rack-7", "dram_throughput 71.5", "correct"} {
		wantText(t, doc, "#evaluation", text)
	}
	if got := doc.Find("pre[aria-label='CUDA graphs were not used']").Text(); got != "no graph\n  at all" {
		t.Errorf("the error is %q", got)
	}
	if doc.Find("[hx-trigger], [action$=cancel]").Length() != 0 {
		t.Error("a page that is over renews itself or can be cancelled")
	}
}

func TestAnOpenEvaluationPageShowsItsEnd(t *testing.T) {
	s := newEvalSite(t)
	b, resp := s.playground(tryForm(nil))
	wantStatus(t, resp, http.StatusSeeOther)
	w := (&scene{testSite: s.testSite}).window().as(b)
	w.Do(chromedp.EmulateViewport(390, 900))
	fits := `document.documentElement.scrollWidth <= 390`
	w.open("/playground")
	w.Until(fits)
	w.refusedNothing()
	w.open(resp.Header.Get("Location"))
	w.Shows(".stage-now", "submitted")
	s.finished(b, kernelrun.Result{Report: kernelrun.Report{Compiled: true, Correctness: true, RuntimeStats: &kernelrun.Stats{Mean: 0.0125}}})
	w.Shows("[data-time=Mean]", "12.50")
	w.Until(`!document.querySelector("#evaluation [hx-trigger], #evaluation form")`)
	w.Until(fits)
	w.refusedNothing()
}

func TestHostileKernelsCannotScriptTheirPages(t *testing.T) {
	s := newEvalSite(t)
	contract := `{"args": [{"name": ` + jsonText(hostile) + `, "type": "int", "value": 1}]}`
	b, resp := s.playground(tryForm(url.Values{"kernel": {hostile}, "kernel_name": {hostile}, "contract": {contract}}))
	wantStatus(t, resp, http.StatusSeeOther)
	path := resp.Header.Get("Location")
	doc := s.finished(b, kernelrun.Result{Worker: hostile, Name: hostile, CUDA: hostile, Stage: hostile, Signal: hostile, Stdout: hostile, MetricsError: hostile,
		StageSeconds: map[string]float64{hostile: 1}, Report: kernelrun.Report{CompilationError: hostile, ProfilingMethod: hostile, MaxDifference: hostile},
		Metrics: map[string]kernelrun.Metrics{hostile: {Device: map[string]map[string]any{hostile: {hostile: hostile}}}}})
	again := b.page("/playground?from="+strings.TrimPrefix(path, "/evaluations/"), http.StatusOK)
	_, resp = s.playground(tryForm(url.Values{"rows": {hostile}, "kernel": {hostile}, "kernel_type": {hostile}, "num_trials": {hostile}, "contract": {hostile}}))
	for name, doc := range map[string]*goquery.Document{"result": doc, "again": again, "refused": document(t, resp, http.StatusUnprocessableEntity)} {
		checkSound(t, doc)
		if !strings.Contains(doc.Text(), hostile) && name != "result" || doc.Find("hx-partial").Length() > 0 {
			t.Errorf("the %s page hides or runs what was typed", name)
		}
		checkDirection(t, doc, name == "result")
	}
}

func TestThePlaygroundShowsEveryExample(t *testing.T) {
	s := newEvalSite(t)
	b := (&scene{testSite: s.testSite}).browserOf(s.user)
	for name, source := range map[string]string{"torch": "def softmax(x):", "triton": "@triton.jit", "cuda": "__global__ void add"} {
		doc := b.page("/playground?example="+name, http.StatusOK)
		checkSound(t, doc)
		wantText(t, doc, "#kernel", source)
	}
}

func TestPeopleFindTheirEvaluationsAndTheSourcesAgain(t *testing.T) {
	s := newEvalSite(t)
	b, resp := s.playground(tryForm(url.Values{"reference": {"def f(x): return x"}, "reference_type": {"torch"}}))
	wantStatus(t, resp, http.StatusSeeOther)
	path := resp.Header.Get("Location")
	if b.page("/playground", http.StatusOK).Find(`a[href="`+path+`"]`).Length() != 1 {
		t.Error("the playground does not list the evaluation")
	}
	visitor := s.browser()
	if visitor.page("/playground", http.StatusOK).Find(`a[href^="/evaluations/"]`).Length() != 0 {
		t.Error("a visitor sees the evaluations of others")
	}
	visitor.page(path, http.StatusNotFound)
	wantText(t, b.page(path, http.StatusOK), "#sharing", "only its author and admins")
	wantStatus(t, b.post(path+"/share", url.Values{"shared": {"true"}}), http.StatusSeeOther)
	wantText(t, b.page("/playground", http.StatusOK), "table", "shared")
	checkSound(t, b.page(path, http.StatusOK))
	doc := visitor.page(path, http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, "[data-source=Kernel]", "def add (x, n): pass")
	wantText(t, doc, "[data-source=Reference]", "def f (x): return x")
	wantText(t, doc, "#sharing", "anyone with this page's address")
	if doc.Find("#sharing button").Length() != 0 {
		t.Error("a visitor can turn the switch")
	}
}

func TestThePlaygroundSharesWhatIsMeantForOthers(t *testing.T) {
	s := newEvalSite(t)
	_, resp := s.playground(tryForm(url.Values{"shared": {"true"}}))
	wantStatus(t, resp, http.StatusSeeOther)
	wantStatus(t, s.browser().get(resp.Header.Get("Location")), http.StatusOK)
	wantStatus(t, s.browser().get("/playground?from="+strings.TrimPrefix(resp.Header.Get("Location"), "/evaluations/")), http.StatusOK)
}
