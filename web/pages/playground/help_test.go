package playground_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"warpboard/evaluator/kernelrun"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// tryForm returns a filled-in playground form. Each key in changes replaces the values of a field; an empty list
// removes it.
func tryForm(changes url.Values) url.Values {
	form := url.Values{
		"do": {"run"}, "rows": {"3"}, "kernel": {"@triton.jit\r\ndef add(x, n): pass"}, "kernel_type": {"triton"},
		"kernel_name": {"add"},
		"args-0-name": {"x"}, "args-0-type": {"tensor"}, "args-0-role": {"inout"}, "args-0-shape": {"64, 32"},
		"args-0-dtype": {"float16"},
		"args-0-init":  {"uniform"}, "args-0-first": {"-1"}, "args-0-second": {"2.5"}, "args-0-seed": {"7"},
		"args-2-name": {"n"}, "args-2-type": {"int"}, "args-2-role": {"input"}, "args-2-value": {"2048"},
		"args-2-meta":   {"true"},
		"launch-grid-x": {"cdiv(n, 256)"}, "launch-num_warps": {"8"}, "num_trials": {"12"}, "timeout": {"30"},
		"gpu_type": {"CPU"},
	}
	maps.Copy(form, changes)
	return form
}

const wantContract = `{"args":[
	{"name":"x","type":"tensor","role":"inout","tensor_spec":{"shape":[64,32],"dtype":"float16","init":{"kind":"uniform","low":-1,"high":2.5,"seed":7}}},
	{"name":"n","type":"int","role":"input","value":2048,"is_meta":true}],
	"launch":{"grid":{"x":"cdiv(n, 256)","y":1,"z":1},"num_warps":8}}`

// withoutNulls removes the keys with null from a JSON object and from all objects inside it.
func withoutNulls(object map[string]any) map[string]any {
	maps.DeleteFunc(object, func(_ string, value any) bool { return value == nil })
	for _, value := range object {
		for _, inner := range append(asList(value), value) {
			if inner, ok := inner.(map[string]any); ok {
				withoutNulls(inner)
			}
		}
	}
	return object
}

func asList(value any) []any {
	list, _ := value.([]any)
	return list
}

// contractOf decodes a contract and removes nulls and default values, so that equivalent contracts are equal.
func contractOf(t *testing.T, text string) any {
	t.Helper()
	var io map[string]any
	if err := json.Unmarshal([]byte(text), &io); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	for _, arg := range io["args"].([]any) {
		if arg := arg.(map[string]any); arg["is_meta"] == false {
			delete(arg, "is_meta")
		}
	}
	return withoutNulls(io)
}

func requestOf(t *testing.T, e work.Evaluation) (r kernelrun.Request) {
	t.Helper()
	if err := json.Unmarshal(e.Request, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func playground(s *webtest.EvalSite, form url.Values) (*webtest.Browser, *http.Response) {
	b := (&webtest.Scene{Site: s.Site}).BrowserOf(s.User)
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return b, b.Post("/playground", form)
}

// finished ends the newest evaluation with a result, as a worker would, and returns its page.
func finished(s *webtest.EvalSite, b *webtest.Browser, result kernelrun.Result) *goquery.Document {
	s.T.Helper()
	e := s.WaitForState(work.EvaluationSubmitted)
	text, err := json.Marshal(result)
	if err != nil {
		s.T.Fatal(err)
	}
	s.End(e, result.Worker, string(text), work.CounterSample{Name: work.CounterCompilationsPassed, Value: 1})
	return b.Page("/evaluations/"+e.ID, http.StatusOK)
}
