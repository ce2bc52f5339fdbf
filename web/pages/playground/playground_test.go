package playground_test

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
	"warpboard/web/webtest"
)

func TestThePlaygroundMakesAnEvaluationOfItsForm(t *testing.T) {
	s := webtest.NewEvalSite(t)
	b, resp := playground(s, tryForm(nil))
	webtest.WantStatus(t, resp, http.StatusSeeOther)
	e := s.WaitForState(work.EvaluationSubmitted)
	if got := resp.Header.Get("Location"); got != "/evaluations/"+e.ID || e.UserID != s.User.ID || e.Device != "CPU" ||
		e.Kind != "evaluate" {
		t.Errorf("sent to %s; the evaluation is %+v", got, e)
	}
	e, err := s.Cfg.Store.Work.Evaluation(t.Context(), e.ID)
	if err != nil {
		t.Fatal(err)
	}
	r := requestOf(t, e)
	if diff := cmp.Diff(contractOf(t, wantContract), contractOf(t,
		webtest.JSONText(r.CustomKernel.IOContract))); diff != "" {
		t.Error(diff)
	}
	if r.CustomKernel.Source != "@triton.jit\ndef add(x, n): pass" || r.CustomKernel.Metadata["kernel_name"] != "add" ||
		r.NumTrials != 12 || r.Timeout != 30 || r.FlushL2 {
		t.Errorf("request: %+v", r)
	}
	doc := b.Page("/evaluations/"+e.ID, http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, ".stage-now", "Waiting")
	if doc.Find("[hx-trigger]").Length() != 1 {
		t.Error("the page does not renew itself")
	}
	again := b.Page("/playground?from="+e.ID, http.StatusOK)
	webtest.CheckSound(t, again)
	if diff := cmp.Diff(contractOf(t, wantContract), contractOf(t, again.Find("#contract").Text())); diff != "" {
		t.Errorf("opened again: %s", diff)
	}
	webtest.WantStatus(t, b.Post("/evaluations/"+e.ID+"/cancel", nil), http.StatusSeeOther)
	s.WaitForState(work.EvaluationCancelled)
}

func TestAReferenceMakesItAComparison(t *testing.T) {
	s := webtest.NewEvalSite(t)
	_, resp := playground(s, tryForm(url.Values{"reference": {"def f(x, n): return x"}, "reference_type": {"torch"},
		"reference_name": {"f"},
		"contract":       {`{"args": []}`}, "reference_contract": {"null"}, "kernel_metadata": {`{"note": 1}`},
		"atol": {"0.5"}, "rtol": {""}}))
	webtest.WantStatus(t, resp, http.StatusSeeOther)
	e, err := s.Cfg.Store.Work.Evaluation(t.Context(), s.WaitForState(work.EvaluationSubmitted).ID)
	if err != nil {
		t.Fatal(err)
	}
	r := requestOf(t, e)
	if r.Kind != kernelrun.KindCompare || r.RefKernel.IOContract != nil || r.RefKernel.Metadata["function_name"] != "f" || r.ATol != 0.5 ||
		r.RTol != 0.01 {
		t.Errorf("request: %+v, reference %+v", r, r.RefKernel)
	}
	if len(r.CustomKernel.IOContract["args"].([]any)) != 0 || fmt.Sprint(r.CustomKernel.Metadata["note"]) != "1" ||
		r.CustomKernel.Metadata["kernel_name"] != "add" {
		t.Errorf("the JSON did not count: %+v", r.CustomKernel)
	}
}

func TestAFormMistakeIsShownAtItsField(t *testing.T) {
	s := webtest.NewEvalSite(t)
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
			_, resp := playground(s, tryForm(url.Values{test.field: {test.typed}}))
			doc := webtest.Document(t, resp, http.StatusUnprocessableEntity)
			webtest.CheckSound(t, doc)
			webtest.WantText(t, doc, `[id="`+test.field+`-problem"]`, test.says)
			field := doc.Find(`[name="` + test.field + `"]`)
			if got := field.AttrOr("value", strings.TrimPrefix(field.Text(), "\n")); field.Is("input, textarea") &&
				got != test.typed {
				t.Errorf("the field holds %q, not what was typed", got)
			}
			if doc.Find("#args-0-dtype option[selected]").Text() != "float16" {
				t.Error("another field was forgotten")
			}
		})
	}
	if list, err := s.Cfg.Store.Work.Evaluations(t.Context(), work.Requester{User: s.User}, 0, 1); err != nil ||
		len(list) != 0 {
		t.Errorf("a mistake made %v, %v", list, err)
	}
}

func TestRowsAreAddedAndWrittenAsJSONWithoutScripts(t *testing.T) {
	s := webtest.NewEvalSite(t)
	_, resp := playground(s, tryForm(url.Values{"do": {"row"}}))
	doc := webtest.Document(t, resp, http.StatusOK)
	if doc.Find("#args-3-name").Length() != 1 || doc.Find("#args-2-value").AttrOr("value", "") != "2048" {
		t.Error("there is no fourth row beside what was typed")
	}
	_, resp = playground(s, tryForm(url.Values{"do": {"json"}}))
	doc = webtest.Document(t, resp, http.StatusOK)
	if diff := cmp.Diff(contractOf(t, wantContract), contractOf(t, doc.Find("#contract").Text())); diff != "" {
		t.Error(diff)
	}
}

func TestVisitorsSeeThePlaygroundAndRunNothing(t *testing.T) {
	s := webtest.NewEvalSite(t)
	visitor := s.Browser()
	doc := visitor.Page("/playground", http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "main", "Sign in to run")
	if rows := doc.Find("#arguments fieldset.group"); rows.Length() != 1 ||
		doc.Find("#args-0-name").AttrOr("value", "") != "x" {
		t.Errorf("the example with one argument has %d rows", rows.Length())
	}
	if doc.Find("button[value=run]").Length() != 0 {
		t.Error("a visitor can press Run")
	}
	webtest.WantStatus(t, visitor.Post("/playground", tryForm(nil)), http.StatusUnauthorized)
	b, resp := playground(s, tryForm(url.Values{site.CSRFField: {"forged"}}))
	webtest.WantStatus(t, resp, http.StatusForbidden)
	if _, resp = playground(s, tryForm(nil)); resp.StatusCode != http.StatusSeeOther {
		t.Fatal(resp.Status)
	}
	path := resp.Header.Get("Location")
	webtest.WantStatus(t, visitor.Get(path), http.StatusNotFound)
	webtest.WantStatus(t, visitor.Post(path+"/cancel", nil), http.StatusNotFound)
	webtest.WantStatus(t, b.Get("/evaluations/none"), http.StatusNotFound)
}

func TestTheResultPageShowsWhatWasMeasured(t *testing.T) {
	s := webtest.NewEvalSite(t)
	b, resp := playground(s, tryForm(url.Values{"reference": {"x"}, "reference_type": {"torch"}}))
	webtest.WantStatus(t, resp, http.StatusSeeOther)
	speedup, passed := 1.84, 5
	doc := finished(s, b, kernelrun.Result{Worker: "rack-7", DeviceName: "NVIDIA H200", Report: kernelrun.Report{
		Compiled: true, Correctness: true, ProfilingMethod: "cuda_graph", TotalTrials: 5, TrialsPassed: &passed,
		RuntimeStats: &kernelrun.Stats{Mean: 0.0125, Std: 0.0001, Min: 0.012, Max: 0.014, Median: 0.01249,
			Percentile95: 0.013, Percentile99: 0.0135},
		RefRuntime: &kernelrun.Stats{Mean: 0.023, Std: 0.0002, Min: 0.022, Max: 0.024, Median: 0.02301,
			Percentile95: 0.0233, Percentile99: 0.0237},
		Speedup: &speedup, SpeedupInterval: []float64{1.82, 1.86}, GraphError: "no graph\n  at all",
		Cases: []kernelrun.CaseReport{
			{Arguments: map[string]any{"n": 1024, "dtype": "float16"}, Correctness: true, Speedup: &speedup,
				RuntimeStats: &kernelrun.Stats{Median: 0.0125}, RefRuntime: &kernelrun.Stats{Median: 0.023}},
			{Arguments: map[string]any{"n": 4096, "dtype": "float32"}}},
	}, Metrics: map[string]kernelrun.KernelMetrics{"custom": {DeviceMetrics: map[string]map[string]any{"memory": {"dram_throughput": 71.5}}}}})
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-time=Mean]", "12.50 µs 23.00 µs")
	webtest.WantText(t, doc, "[data-time='99th percentile']", "13.50 µs 23.70 µs")
	if columns := doc.Find("[data-time=Mean]").Children().Length(); columns != 3 {
		t.Errorf("the table of times has %d columns: more than 3 do not fit beside the form", columns)
	}
	webtest.WantText(t, doc, "[data-speedup]", "1.84×")
	webtest.WantText(t, doc, "[data-case='1']", `dtype: "float16"; n: 1024 12.50 µs 23.00 µs 1.84×`)
	webtest.WantText(t, doc, "[data-case='2']", `dtype: "float32"; n: 4096 wrong`)
	for _, text := range []string{"1.82× and 1.86×", "CUDA graphs", "5 of 5", "rack-7", "dram_throughput 71.5",
		"correct"} {
		webtest.WantText(t, doc, "#evaluation", text)
	}
	if got := doc.Find("pre[aria-label='CUDA graphs were not used']").Text(); got != "no graph\n  at all" {
		t.Errorf("the error is %q", got)
	}
	if doc.Find("[hx-trigger], [action$=cancel]").Length() != 0 {
		t.Error("a page that is over renews itself or can be cancelled")
	}
}

func TestAnOpenEvaluationPageShowsItsEnd(t *testing.T) {
	s := webtest.NewEvalSite(t)
	b, resp := playground(s, tryForm(nil))
	webtest.WantStatus(t, resp, http.StatusSeeOther)
	w := (&webtest.Scene{Site: s.Site}).Window().As(b)
	w.Do(chromedp.EmulateViewport(390, 900))
	fits := `document.documentElement.scrollWidth <= 390`
	w.Visit("/playground")
	w.Until(fits)
	w.RefusedNothing()
	w.Visit(resp.Header.Get("Location"))
	w.Shows(".stage-now", "Waiting")
	finished(s, b, kernelrun.Result{Report: kernelrun.Report{Compiled: true, Correctness: true,
		RuntimeStats: &kernelrun.Stats{Mean: 0.0125}}})
	w.Shows("[data-time=Mean]", "12.50")
	w.Until(`!document.querySelector("#evaluation [hx-trigger], #evaluation form")`)
	w.Until(fits)
	w.RefusedNothing()
}

func TestHostileKernelsCannotScriptTheirPages(t *testing.T) {
	s := webtest.NewEvalSite(t)
	contract := `{"args": [{"name": ` + webtest.JSONText(webtest.Hostile) + `, "type": "int", "value": 1}]}`
	b, resp := playground(s, tryForm(url.Values{"kernel": {webtest.Hostile}, "kernel_name": {webtest.Hostile},
		"contract": {contract}}))
	webtest.WantStatus(t, resp, http.StatusSeeOther)
	path := resp.Header.Get("Location")
	doc := finished(s, b, kernelrun.Result{Worker: webtest.Hostile, DeviceName: webtest.Hostile, CUDA: webtest.Hostile,
		LastStage: webtest.Hostile, Signal: webtest.Hostile, Stdout: webtest.Hostile, MetricsError: webtest.Hostile,
		StageSeconds: map[string]float64{webtest.Hostile: 1},
		Report: kernelrun.Report{CompilationError: webtest.Hostile, ProfilingMethod: webtest.Hostile,
			MaxDifference: webtest.Hostile,
			Cases:         []kernelrun.CaseReport{{Arguments: map[string]any{webtest.Hostile: webtest.Hostile}}}},
		Metrics: map[string]kernelrun.KernelMetrics{webtest.Hostile: {Kernels: []kernelrun.Kernel{{Name: webtest.Hostile,
			Origin: webtest.Hostile}},
			DeviceMetrics: map[string]map[string]any{webtest.Hostile: {webtest.Hostile: webtest.Hostile}}}}})
	again := b.Page("/playground?from="+strings.TrimPrefix(path, "/evaluations/"), http.StatusOK)
	_, resp = playground(s, tryForm(url.Values{"rows": {webtest.Hostile}, "kernel": {webtest.Hostile},
		"kernel_type": {webtest.Hostile}, "num_trials": {webtest.Hostile}, "contract": {webtest.Hostile}}))
	for name, doc := range map[string]*goquery.Document{"result": doc, "again": again,
		"refused": webtest.Document(t, resp, http.StatusUnprocessableEntity)} {
		webtest.CheckSound(t, doc)
		if !strings.Contains(doc.Text(), webtest.Hostile) && name != "result" || doc.Find("hx-partial").Length() > 0 {
			t.Errorf("the %s page hides or runs what was typed", name)
		}
		webtest.CheckDirection(t, doc, name == "result")
	}
}

func TestAnEvaluationShowsWhatRan(t *testing.T) {
	s := webtest.NewEvalSite(t)
	b, resp := playground(s, tryForm(url.Values{"kernel": {"def f(x): return x @ x"}}))
	webtest.WantStatus(t, resp, http.StatusSeeOther)
	doc := finished(s, b, kernelrun.Result{Report: kernelrun.Report{Compiled: true, Correctness: true},
		Metrics: map[string]kernelrun.KernelMetrics{"custom": {
			Kernels: []kernelrun.Kernel{{Name: "nvjet_hsh", Origin: "cuBLAS", FromLibrary: true, Launches: 1, DurationNS: 999_900,
				Share: 0.9999}, {Name: "mine", Origin: "source", Launches: 1, DurationNS: 100, Share: 0.0001}}}}})
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-ran] tr[data-origin=cuBLAS]", "nvjet_hsh cuBLAS 100.0 % 1")
	webtest.WantText(t, doc, "[data-ran] tr[data-origin=source]", "mine source < 0.1 % 1")
	path := strings.Replace(resp.Header.Get("Location"), "/evaluations/", "/api/v1/evaluations/", 1)
	if text := webtest.Body(t, b.Get(path)); !strings.Contains(text,
		`"kernels":{"original":[{"name":"nvjet_hsh","origin":"cuBLAS","library":true,"launches":1,"ns":999900,"share":0.9999}`) {
		t.Errorf("the API answers %s", text)
	}
}

func TestThePlaygroundShowsEveryExample(t *testing.T) {
	s := webtest.NewEvalSite(t)
	b := (&webtest.Scene{Site: s.Site}).BrowserOf(s.User)
	for name, source := range map[string]string{"torch": "def softmax(x):", "triton": "@triton.jit",
		"cuda": "__global__ void add"} {
		doc := b.Page("/playground?example="+name, http.StatusOK)
		webtest.CheckSound(t, doc)
		webtest.WantText(t, doc, "#kernel", source)
	}
}

func TestPeopleFindTheirEvaluationsAndTheSourcesAgain(t *testing.T) {
	s := webtest.NewEvalSite(t)
	b, resp := playground(s, tryForm(url.Values{"reference": {"def f(x): return x"}, "reference_type": {"torch"}}))
	webtest.WantStatus(t, resp, http.StatusSeeOther)
	path := resp.Header.Get("Location")
	if b.Page("/playground", http.StatusOK).Find(`a[href="`+path+`"]`).Length() != 1 {
		t.Error("the playground does not list the evaluation")
	}
	visitor := s.Browser()
	if visitor.Page("/playground", http.StatusOK).Find(`a[href^="/evaluations/"]`).Length() != 0 {
		t.Error("a visitor sees the evaluations of others")
	}
	visitor.Page(path, http.StatusNotFound)
	webtest.WantText(t, b.Page(path, http.StatusOK), "#sharing", "only its author and admins")
	webtest.WantStatus(t, b.Post(path+"/share", url.Values{"shared": {"true"}}), http.StatusSeeOther)
	webtest.WantText(t, b.Page("/playground", http.StatusOK), "table", "shared")
	webtest.CheckSound(t, b.Page(path, http.StatusOK))
	doc := visitor.Page(path, http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-source=Kernel]", "def add (x, n): pass")
	webtest.WantText(t, doc, "[data-source=Reference]", "def f (x): return x")
	webtest.WantText(t, doc, "#sharing", "anyone with this page's address")
	if doc.Find("#sharing button").Length() != 0 {
		t.Error("a visitor can turn the switch")
	}
}

func TestThePlaygroundSharesWhatIsMeantForOthers(t *testing.T) {
	s := webtest.NewEvalSite(t)
	_, resp := playground(s, tryForm(url.Values{"shared": {"true"}}))
	webtest.WantStatus(t, resp, http.StatusSeeOther)
	webtest.WantStatus(t, s.Browser().Get(resp.Header.Get("Location")), http.StatusOK)
	webtest.WantStatus(t, s.Browser().Get("/playground?from="+
		strings.TrimPrefix(resp.Header.Get("Location"), "/evaluations/")), http.StatusOK)
}

func TestThePlaygroundNamesWhatItsFormLacks(t *testing.T) {
	s := webtest.NewEvalSite(t)
	kernel := webtest.TorchModel("return x")
	resp, answer := s.Ask("POST", "/api/v1/evaluations", webtest.Object{"ref_kernel": kernel, "custom_kernel": kernel, "shared": true, "setup": true,
		"matched": 0.9, "baselines": []string{"eager"}})
	id, _ := answer["id"].(string)
	if id == "" {
		t.Fatalf("%s %v", resp.Status, answer)
	}
	webtest.WantText(t, s.Browser().Page("/playground?from="+id, http.StatusOK), "main",
		"The form has no fields for setup, baselines, tolerances of the evaluation")
}
