package web

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/web/site"
)

// costs reads a page that is another one each time, as nothing is kept of it.
func (s *scene) costs(t *testing.T, what string, path func(time int) string) {
	t.Helper()
	b, times := s.browserOf(s.ada), 0
	costtest.Check(t, what, func() {
		times++
		resp := b.get(path(times))
		defer resp.Body.Close()
		if n, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 || n == 0 {
			t.Errorf("%s: %s, %d bytes, %v", what, resp.Status, n, err)
		}
	})
}

func TestNoSourceCostsItsReadersMoreThanARequestMay(t *testing.T) {
	s := newScene(t)
	var ids []int64
	for i := range 4 {
		run := s.submit(s.ada, "H200", strings.Repeat("1 ", views.MostColoured/2-8)+fmt.Sprint(i))
		s.finish(run, 1e4)
		ids = append(ids, run.SubmissionID)
	}
	s.costs(t, "256 kB of numbers", func(time int) string { return fmt.Sprintf("/submissions/%d?tab=source", ids[time-1]) })
}

func TestNoComparisonCostsItsReadersMoreThanARequestMay(t *testing.T) {
	s := newScene(t)
	var runs [2]work.Run
	for i := range runs {
		random, text := rand.New(rand.NewPCG(1, uint64(i))), bytes.Buffer{}
		for range 9_999 {
			fmt.Fprintf(&text, "%-40d\n", random.IntN(1e6))
		}
		runs[i] = s.submit(s.ada, "H200", text.String())
		s.finish(runs[i], 1e4)
	}
	s.costs(t, "two sources of 9,999 lines", func(time int) string {
		return fmt.Sprintf("/compare?a=%d&b=%d&case=%d", runs[0].ID, runs[1].ID, time)
	})
}

func TestNoDescriptionCostsItsReadersMoreThanARequestMay(t *testing.T) {
	s := newScene(t)
	columns := "|" + strings.Repeat("a|", 5000) + "\n|" + strings.Repeat("-|", 5000) + "\n"
	var paths []string
	for i := range 4 {
		bundle := modelstest.Bundle(fmt.Sprint("wide-", i))
		bundle.Definition.Description = fmt.Sprint(i, "\n\n", columns, strings.Repeat("|\n", 20_000))
		task, err := s.site.Store.Catalog.CreateTask(t.Context(), s.admin, catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: bundle})
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, "/tasks/"+task.Slug)
	}
	s.costs(t, "a table of 5,000 columns", func(time int) string { return paths[time-1] })
}

// keys are those of an object, so many bytes of them.
func keys(size int) string {
	var text strings.Builder
	for i := 0; text.Len() < size-10; i++ {
		fmt.Fprintf(&text, `"%x":1,`, i)
	}
	return "{" + text.String() + `"":1}`
}

func TestNoBodyOfTheAPICostsMoreThanARequestMay(t *testing.T) {
	const size = 4_000_000
	values := func(one string) string { return "[" + strings.Repeat(one+",", size/(len(one)+1)) + one + "]" }
	submission := func(key, value string) string {
		return `{"task":"matmul","source":"x","file_name":"a.cu","` + key + `":` + value + "}"
	}
	call := func(tool, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + "}}"
	}
	distinct := strings.NewReplacer("{", "[", ":1", "", "}", "]").Replace(strings.ReplaceAll(keys(size), `"":1`, `""`))
	s := newEvalSite(t)
	for name, test := range map[string]struct{ path, body string }{
		"keys of a submission":            {"/api/v1/submissions", keys(size)},
		"a key of a submission":           {"/api/v1/submissions", `{"` + strings.Repeat("a", size) + `":1}`},
		"devices of a submission":         {"/api/v1/submissions", submission("devices", values(`""`))},
		"names of devices":                {"/api/v1/submissions", submission("devices", distinct)},
		"fewer names of devices":          {"/api/v1/submissions", submission("devices", `["a"`+strings.Repeat(`,"b"`, 4000)+"]")},
		"names of devices in a source":    {"/api/v1/submissions", `{"task":"matmul","source":"//!POPCORN gpus ` + deviceNames(150_000) + `","file_name":"a.cu"}`},
		"files of a submission":           {"/api/v1/submissions", submission("files", keys(size))},
		"keys of a request to evaluate":   {"/evaluate", `{"kernel":{"source_code":"","kernel_type":"torch","metadata":` + keys(size) + "}}"},
		"values of a request to evaluate": {"/api/v1/evaluations", `{"kernel":{"source_code":"","kernel_type":"torch","io":{"args":` + values("{}") + "}}}"},
		"digits of a number":              {"/api/v1/evaluations", `{"kernel":{"source_code":"","kernel_type":"torch"},"num_trials":` + strings.Repeat("1", size) + "}"},
		"keys of a call":                  {"/mcp", call("test_kernel", keys(size))},
		"values of a call":                {"/mcp", call("evaluate_kernel", `{"request":`+values("{}")+"}")},
		"names of devices of a call":      {"/mcp", call("test_kernel", `{"task":"a","source":"x","file_name":"a.cu","devices":`+distinct+"}")},
		"keys of a message":               {"/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":` + keys(size) + "}}"},
	} {
		costtest.Check(t, name, func() {
			resp, _ := s.send(t.Context(), "POST", test.path, test.body, "Accept", "application/json, text/event-stream")
			if n, _ := io.Copy(io.Discard, resp.Body); n == 0 || n > 1<<16 {
				t.Errorf("%s: %s, %d bytes", name, resp.Status, n)
			}
			resp.Body.Close()
		})
	}
}

// deviceNames are so many names.
func deviceNames(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%x ", i)
	}
	return text.String()
}

func TestNoFormCostsMoreThanARequestMay(t *testing.T) {
	const size, text = 4_000_000, 1_000_000 // of a form, and of what its page shows again
	s := newScene(t)
	b := s.browserOf(s.ada)
	token := url.Values{site.CSRFField: {b.csrf()}}.Encode()
	for name, test := range map[string]struct{ path, fields string }{
		"fields of a form":       {"/me/tokens", strings.Repeat("&a=", size/3)},
		"names of fields":        {"/playground", "&" + strings.ReplaceAll(deviceNames(500_000), " ", "&")},
		"values of a contract":   {"/playground", "&kernel=x&kernel_type=torch&contract={%22args%22:[" + strings.Repeat("{},", text/3) + "{}]}"},
		"keys of the metadata":   {"/playground", "&kernel=x&kernel_type=torch&kernel_metadata=" + strings.ReplaceAll(keys(text), `"`, "%22")},
		"values of the metadata": {"/playground", "&kernel=x&kernel_type=torch&kernel_metadata={%22a%22:[" + strings.Repeat("1,", text/2-100) + "1]}"},
	} {
		costtest.Check(t, name, func() {
			resp := b.send("POST", test.path, strings.NewReader(token+test.fields), "Content-Type", "application/x-www-form-urlencoded", "HX-Request", "true")
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode != 422 {
				t.Errorf("%s: %s", name, resp.Status)
			}
		})
	}
}
