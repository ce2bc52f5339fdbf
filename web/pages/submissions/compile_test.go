package submissions_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/models/work"
	"warpboard/web/webtest"
)

// compiledReport is a worker's report about compiling the scene's kernel: a message about line 5, the resources of the
// kernel, and the PTX and SASS of line 7.
const compiledReport = `{"compiled": %t, "compilation_error": "%s", "stage": "compiling", "compilation": {"file": "submission.cu", "seconds": 1.25,
	"command": "nvcc -c submission.cu", "messages": "submission.cu(5): %s: expected a \";\"",
	"facts": {"ptxas._Z4tilePKfS0_Pfi.registers": "34", "ptxas._Z4tilePKfS0_Pfi.spill_stores": "8", "ptxas._Z4tilePKfS0_Pfi.spill_loads": "8", "ptxas._Z4tilePKfS0_Pfi.smem": "4352"},
	"code": [{"form": "PTX", "code": [{"text": "st.global.f32 [%%rd1], %%f1;", "line": 7}]},
		{"form": "SASS", "code": [{"text": "tile:"}, {"text": "  STG.E desc[UR4][R4.64], R7", "line": 7}]}]}}`

// newestCompilation returns the person's newest evaluation, which is a compilation.
func newestCompilation(s *webtest.Scene) work.Evaluation {
	s.T.Helper()
	list, err := s.Cfg.Store.Work.Evaluations(s.T.Context(), work.Requester{User: s.Ada}, 0, 1)
	if err != nil || len(list) != 1 || list[0].Kind != "compile" {
		s.T.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}

func endCompiling(s *webtest.Scene, report string) {
	(&webtest.EvalSite{Site: s.Site}).End(newestCompilation(s), "rack-7", report)
}

func TestTheWorkbenchShowsCodeBesideTheSource(t *testing.T) {
	s := webtest.NewScene(t)
	b, solve := s.BrowserOf(s.Ada), "/tasks/"+s.Task.Slug+"/solve"
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	source := webtest.GoodKernel
	send := func(task string, device string) *http.Response {
		return b.Upload("/tasks/"+task+"/solve", "", "", nil, url.Values{"mode": {"compile"}, "source": {source}, "device": {device}})
	}
	resp := send(s.Task.Slug, "H200")
	webtest.WantStatus(t, resp, http.StatusSeeOther)
	e := newestCompilation(s)
	if to := resp.Header.Get("Location"); to != "/evaluations/"+e.ID || e.Device != "H200" {
		t.Errorf("sent to %s, on %s", to, e.Device)
	}
	webtest.WantText(t, b.Page("/evaluations/"+e.ID, http.StatusOK), ".stages", "Waiting")
	endCompiling(s, fmt.Sprintf(compiledReport, true, "", "warning"))
	doc := b.Page("/evaluations/"+e.ID, http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-kernels] tbody", "tile 34 4.2 KiB – 16 B")
	webtest.WantText(t, doc, "[data-code=SASS][open] [aria-label=SASS] [data-line='7']", "STG.E")
	webtest.WantText(t, doc, "[data-code=SASS] [aria-label=Source] [data-line='7']", "for (int k")
	webtest.WantText(t, doc, "[data-code=PTX]:not([open])", "st.global")
	webtest.WantText(t, doc, "[data-run-remarks] [data-line='5']", "warning")
	refused := send(s.Task.Slug, "B200")
	if text := webtest.Body(t, refused); refused.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, "is not attached; there are: h200.") {
		t.Errorf("on a B200: %s", refused.Status)
	}
	python := send("softmax-numpy", "CPU")
	if text := webtest.Body(t, python); python.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, "is a Python task") {
		t.Errorf("a Python task: %s", python.Status)
	}
	source += strings.Repeat("\n", 300_000)
	webtest.Body(t, send(s.Task.Slug, "H200"))
	endCompiling(s, fmt.Sprintf(compiledReport, true, "", "warning"))
	if text := webtest.Body(t, b.Get("/evaluations/"+newestCompilation(s).ID)); len(text) > 2<<20 || !strings.Contains(text, "further lines are not shown") {
		t.Errorf("a source of many lines makes a page of %d bytes", len(text))
	}
	if n := b.Page(solve, http.StatusOK).Find("button[value=compile]").Length(); n != 1 {
		t.Errorf("%d buttons", n)
	}
}

func TestTheWorkbenchMarksLinesThatDoNotCompile(t *testing.T) {
	s := webtest.NewScene(t)
	w := s.Window().As(s.BrowserOf(s.Ada))
	w.Bench(s, "")
	w.Types(webtest.GoodKernel)
	w.Eval(`document.querySelector("[value=compile]").click()`)
	w.Until(`document.querySelector("#bench-run [data-mode=compile]")`)
	first := newestCompilation(s).ID
	endCompiling(s, fmt.Sprintf(compiledReport, false, "Compiling submission.cu failed.", "error"))
	w.Until(`document.querySelector(".cm-lintRange-error")`)
	w.Until(`document.querySelector(".cm-lintRange-error").closest(".cm-line").textContent.includes("__shared__")`)
	w.Until(`document.querySelector("#bench-run [data-code=SASS]")`)
	w.Until(`!new URLSearchParams(location.search).get("run")`)
	w.Types(webtest.GoodKernel + "// better")
	w.Eval(`document.querySelector("[value=compile]").click()`)
	w.Until(`!document.querySelector(".cm-lintRange-error")`)
	w.Until(fmt.Sprintf(`document.querySelector("#bench-run [data-mode=compile]:not([data-submission='%s'])")`, first))
	endCompiling(s, fmt.Sprintf(compiledReport, true, "", "warning"))
	w.Until(`document.querySelector(".cm-lintRange-warning")`)
	w.LooksRight("compile-bench")
	w.Visit("/evaluations/" + newestCompilation(s).ID)
	w.LooksRight("compilation")
	w.RefusedNothing()
}
