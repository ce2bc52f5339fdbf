package web_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"warpboard/web/webtest"
)

// apiRoutes returns the methods and paths that the OpenAPI document must describe, in its notation.
func apiRoutes(s *webtest.Site) map[string]bool {
	unversioned := map[string]bool{"POST /": true, "POST /evaluate": true, "POST /compare": true, "GET /job/{id}": true,
		"GET /health": true, "GET /stats": true, "POST /admin/cleanup-jobs": true}
	// paths of pages that also respond with data
	data := regexp.MustCompile(
		`^/(compare|submissions/.*/profile|tasks/.*/boards/.*/(entries|dataset|kernelbot|README))\.`)
	parameter := regexp.MustCompile(`:(\w+)`)
	routes := map[string]bool{}
	for _, r := range s.App().GetRoutes(true) {
		path := parameter.ReplaceAllString(r.Path, "{$1}")
		name := r.Method + " " + path
		own := strings.HasPrefix(path, "/api/v1/") && path != "/api/v1/openapi.json"
		if r.Method != "HEAD" && (own || unversioned[name] || r.Method == "GET" && data.MatchString(path)) {
			routes[name] = true
		}
	}
	return routes
}

func TestTheDocumentDescribesEveryAddressOfTheAPI(t *testing.T) {
	s := webtest.Start(t)
	resp := s.Browser().Get("/api/v1/openapi.json")
	text := webtest.Body(t, resp)
	var document struct {
		OpenAPI    string                    `json:"openapi"`
		Paths      map[string]map[string]any `json:"paths"`
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil || document.OpenAPI != "3.1.0" {
		t.Fatalf("no OpenAPI document: %v", err)
	}
	described, named := map[string]bool{}, map[string]string{}
	for path, methods := range document.Paths {
		for method, operation := range methods {
			id, _ := operation.(map[string]any)["operationId"].(string)
			if other, twice := named[id]; twice || !regexp.MustCompile(`^[a-z]\w+$`).MatchString(id) {
				t.Errorf("%s %s is called %q, as is %q", method, path, id, other)
			}
			named[id] = method + " " + path
			whole, _ := operation.(map[string]any)
			if responses, _ := whole["responses"].(map[string]any); whole["security"] == nil ||
				responses["4XX"] == nil {
				t.Errorf("%s %s does not say who may call it, or how it refuses", method, path)
			}
			described[strings.ToUpper(method)+" "+path] = true
		}
	}
	if diff := cmp.Diff(apiRoutes(s), described); diff != "" {
		t.Errorf("(-routes +document):\n%s", diff)
	}
	for _, found := range regexp.MustCompile(`"\$ref":"#/components/schemas/(\w+)"`).FindAllStringSubmatch(text, -1) {
		if document.Components.Schemas[found[1]] == nil {
			t.Errorf("nothing is called %s", found[1])
		}
	}
}

// eachSchema calls do for every object in a document, because each may be a schema, with the object's path.
func eachSchema(at string, value any, do func(at string, schema webtest.Object)) {
	switch v := value.(type) {
	case webtest.Object:
		do(at, v)
		for key, part := range v {
			eachSchema(at+"/"+key, part, do)
		}
	case []any:
		for i, part := range v {
			eachSchema(fmt.Sprint(at, "/", i), part, do)
		}
	}
}

func TestGeneratorsOfClientsGetExactTypes(t *testing.T) {
	s := webtest.Start(t)
	var document webtest.Object
	webtest.DecodeBody(t, s.Browser().Get("/api/v1/openapi.json"), &document)
	eachSchema("", document, func(at string, schema webtest.Object) {
		switch kind := schema["type"].(type) {
		case string:
			if (kind == "integer" || kind == "number") && schema["format"] == nil {
				t.Errorf("%s does not say how wide a number is: Go makes a float32 of it", at)
			}
		case []any:
			if len(kind) != 2 || kind[0] != "null" || kind[1] == "array" {
				t.Errorf("%s is one of %v", at, kind)
			}
		}
		name, _ := schema["name"].(string)
		if want := map[string]string{"deadline": "string", "dry_run": "boolean", "visibility": "string",
			"site": "boolean", "page": "integer"}[name]; want != "" &&
			schema["in"] == "query" && schema["schema"].(webtest.Object)["type"] != want {
			t.Errorf("%s: %s is %v, want %s", at, name, schema["schema"], want)
		}
		if schema["in"] == "path" && (name == "id" || name == "run" || name == "delivery") {
			random := strings.Contains(at, "/evaluations/") || strings.Contains(at, "/job/{id}")
			if want := map[bool]string{true: "string",
				false: "integer"}[random]; schema["schema"].(webtest.Object)["type"] != want {
				t.Errorf("%s: %v is %v, want %s", at, name, schema["schema"], want)
			}
		}
	})
	for _, want := range []string{"run.ended", "record.taken", "worker.lost", "wait.long", "test"} {
		if document["webhooks"].(webtest.Object)[want] == nil {
			t.Errorf("the message %s to webhooks is not described", want)
		}
	}
}

func TestTheDocumentNamesTheHeaderOfTheDevice(t *testing.T) {
	var document struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct{ Headers map[string]any }
		}
	}
	if err := json.Unmarshal([]byte(webtest.Body(t, webtest.Start(t).Browser().Get("/api/v1/openapi.json"))),
		&document); err != nil {
		t.Fatal(err)
	}
	for path, methods := range document.Paths {
		waits := path == "/evaluate" || path == "/compare" || path == "/"
		for method, operation := range methods {
			if named := operation.Responses["200"].Headers["X-GPU-Type"] != nil; named != waits {
				t.Errorf("%s %s names X-GPU-Type: %v", method, path, named)
			}
		}
	}
}

func TestThePageShowsTheDocument(t *testing.T) {
	s := webtest.Start(t)
	resp := s.Browser().Get("/api")
	page, err := goquery.NewDocumentFromReader(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatal(resp.Status, err)
	}
	shown := map[string]bool{}
	page.Find("[data-operation]").Each(func(_ int, article *goquery.Selection) {
		shown[article.AttrOr("data-operation", "")] = true
	})
	if diff := cmp.Diff(apiRoutes(s), shown); diff != "" {
		t.Errorf("(-routes +page):\n%s", diff)
	}
	page.Find(`main a[href^="#"]`).Each(func(_ int, link *goquery.Selection) {
		if target := link.AttrOr("href", ""); page.Find(target).Length() != 1 {
			t.Errorf("the link to %s leads nowhere", target)
		}
	})
	if row := page.Find("#CompareRequest tr").FilterFunction(func(_ int, tr *goquery.Selection) bool {
		return tr.Find("td").First().Text() == "num_trials"
	}); !strings.Contains(row.Text(), "100") || !strings.Contains(row.Text(), "integer") {
		t.Errorf("num_trials is shown as %q", row.Text())
	}
}

func TestARequestIsWhatTheDocumentSays(t *testing.T) {
	s := webtest.Start(t)
	is := s.Documented(t)
	is("EvaluationRequest", webtest.Object{"kernel": webtest.TorchModel("return x"), "num_trials": 3.0})
	is("CompareRequest", webtest.Object{"ref_kernel": webtest.TorchModel("return x"),
		"custom_kernel": webtest.TorchModel("return x"), "shared": true})
}
