package docs_test

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"warpboard/evaluator/harness"
	"warpboard/models/accounts"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/web/webtest"
)

func TestHarnessSourceCanBeReadAndTaken(t *testing.T) {
	s := webtest.NewScene(t)
	b := s.Browser()
	link := b.Page("/tasks/"+s.Task.Slug, http.StatusOK).Find("[aria-labelledby=rules] a[href^='/harness/']")
	if got := link.AttrOr("href", ""); got != "/harness/eval/cu" {
		t.Fatalf("a CUDA task's page leads to %q", got)
	}
	tabs := b.Page(link.AttrOr("href", ""),
		http.StatusOK).Find("main nav a[href^='/harness/']").Map(func(_ int,
		a *goquery.Selection) string {
		return a.AttrOr("href", "")
	})
	if len(tabs) != 6 {
		t.Fatalf("the harnesses are %q, want six", tabs)
	}
	for _, at := range tabs {
		form, lang, _ := strings.Cut(strings.TrimPrefix(at, "/harness/"), "/")
		set := views.HarnessSet{Form: tasks.Protocol(form), Lang: tasks.Lang(lang)}
		doc := b.Page(string(set.URL()), http.StatusOK)
		webtest.CheckSound(t, doc)
		sources := harness.Sources(set.Form, set.Lang)
		links := doc.Find("main a[download]")
		if links.Length() != len(sources) || len(sources) == 0 {
			t.Errorf("%s offers %d files, the harness has %d", set.URL(), links.Length(), len(sources))
		}
		links.Each(func(_ int, a *goquery.Selection) {
			at := a.AttrOr("href", "")
			target, err := url.Parse(at)
			if err != nil {
				t.Fatal(err)
			}
			resp := b.Get(at)
			webtest.WantStatus(t, resp, http.StatusOK)
			if text := webtest.Body(t, resp); text != string(sources[target.Query().Get("name")]) {
				t.Errorf("%s gave %.60q", at, text)
			}
		})
	}
	for _, path := range []string{"/harness/eval/rust", "/harness/old/cpp", "/harness/eval/cpp/file?name=../eval.cu"} {
		b.Page(path, http.StatusNotFound)
	}
}

// ownHarness replaces the harness of a C++ bundle by the task's own eval.cpp.
func ownHarness(b *tasks.Bundle) {
	b.Files["eval.cpp"] = []byte("int main() { return 112; }\n")
	b.Definition.Files = append(b.Definition.Files, tasks.File{Name: "eval.cpp", Source: "eval.cpp"})
	b.Definition.Config.Sources = []string{"eval.cpp", "submission.cpp"}
	b.Definition.HasOwnHarness = true
}

func withoutStandardFunctions(b *tasks.Bundle) {
	ownHarness(b)
	b.Files["reference.h"] = bytes.ReplaceAll(b.Files["reference.h"], []byte("generate_input"), []byte("make_input"))
}

const harnessTick = "input[type=checkbox][name=warpboard_harness]"

func TestHarnessIsACreatorsChoiceWhereTheBundleAllows(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	preview := func(path string, change func(*tasks.Bundle)) *goquery.Document {
		return webtest.Document(t, creator.Upload(path, "zip", "add.zip", webtest.ZipOf(t, change), nil), http.StatusOK)
	}
	for name, change := range map[string]func(*tasks.Bundle){"no eval": webtest.UnchangedBundle,
		"no functions": withoutStandardFunctions} {
		if preview("/tasks/new", change).Find(harnessTick).Length() > 0 {
			t.Errorf("%s: Warpboard's harness is offered", name)
		}
	}
	doc := preview("/tasks/new", ownHarness)
	webtest.CheckSound(t, doc)
	if doc.Find(harnessTick).Length() != 1 {
		t.Fatal("Warpboard's harness is not offered")
	}
	form := webtest.Fields(doc.Find("main form"))
	webtest.Document(t, creator.Upload("/tasks/publish", "", "", nil, form), http.StatusOK)
	webtest.WantText(t, creator.Page("/tasks/add-two", http.StatusOK), "[aria-labelledby=rules]", "The task's own")
	webtest.WantText(t, creator.Page("/tasks/add-two/boards/CPU", http.StatusOK), ".meta",
		"measured by the task's own harness")

	form = webtest.Fields(preview("/tasks/add-two/version", ownHarness).Find("main form"))
	form.Set("warpboard_harness", "on")
	doc = webtest.Document(t, creator.Upload("/tasks/add-two/publish", "", "", nil, form), http.StatusOK)
	webtest.WantText(t, doc, "[data-change=harness]", "new boards")
	webtest.Document(t, creator.Upload("/tasks/add-two/publish", "", "", nil, webtest.Fields(doc.Find("main form"))),
		http.StatusOK)
	webtest.WantText(t, creator.Page("/tasks/add-two", http.StatusOK), "[aria-labelledby=rules]", "Warpboard's")
	webtest.WantText(t, creator.Page("/tasks/add-two/boards/CPU", http.StatusOK), ".meta",
		"measured by Warpboard's harness")
	webtest.WantText(t, creator.Page("/tasks/add-two/boards/CPU?version=1", http.StatusOK), ".meta",
		"measured by the task's own harness")

	doc = preview("/tasks/add-two/version", ownHarness)
	if _, kept := doc.Find(harnessTick).Attr("checked"); !kept || doc.Find("[data-change]").Length() > 0 {
		t.Error("the choice is forgotten when the same zip is uploaded again")
	}
	form = webtest.Fields(doc.Find("main form"))
	form.Del("warpboard_harness")
	webtest.WantText(t, webtest.Document(t, creator.Upload("/tasks/add-two/publish", "", "", nil, form), http.StatusOK),
		"[data-change=harness]", "the task's own")
}

const olderReference = `#include <vector>
using input_t = std::vector<float>;
using output_t = std::vector<float>;
input_t generate_input() { return input_t(64, 1.5f); }
output_t ref_kernel(input_t in) { return in; }
bool check_implementation(output_t custom, output_t ref) { return custom == ref; }
`

func TestOlderFormKeepsItsLanguageUntilItIsPublished(t *testing.T) {
	s := webtest.NewScene(t)
	creator := s.SignedIn("Carla", accounts.RoleCreator)
	for file, lang := range map[string]tasks.Lang{"copyhost.cpp": tasks.LangCPP, "copydevice.cuh": tasks.LangCUDA} {
		slug := strings.TrimSuffix(strings.TrimSuffix(file, ".cpp"), ".cuh")
		doc := webtest.Document(t, creator.Upload("/tasks/new", "zip", file, []byte(olderReference), nil),
			http.StatusOK)
		form := webtest.Fields(doc.Find("main form"))
		form["device"] = []string{"CPU"}
		webtest.Document(t, creator.Upload("/tasks/publish", "", "", nil, form), http.StatusOK)
		task, err := s.Cfg.Store.Catalog.Task(t.Context(), slug)
		if err != nil {
			t.Fatal(err)
		}
		bundle, err := s.Cfg.Store.Catalog.Bundle(t.Context(), task.VersionID)
		if err != nil {
			t.Fatal(err)
		}
		if d := bundle.Definition; d.Lang != lang || d.Protocol != tasks.ProtocolLegacy {
			t.Errorf("%s became a task of the form %s in %s", file, d.Protocol, d.Lang)
		}
		resp := creator.Get("/tasks/" + slug + "/bundle.zip")
		if name := resp.Header.Get("Content-Disposition"); !strings.Contains(name, slug+"."+string(lang)) ||
			webtest.Body(t, resp) != olderReference {
			t.Errorf("%s is downloaded as %s, or is another text", file, name)
		}
		link := creator.Page("/tasks/"+slug, http.StatusOK).Find("[aria-labelledby=rules] a[href^='/harness/']")
		if got := link.AttrOr("href", ""); got != "/harness/legacy/"+string(lang) {
			t.Errorf("%s: the harness is linked as %q", file, got)
		}
	}
}
