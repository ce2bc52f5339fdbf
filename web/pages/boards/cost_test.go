package boards_test

import (
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/views"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

func TestNoSourceCostsItsReadersMoreThanARequestMay(t *testing.T) {
	s := webtest.NewScene(t)
	var ids []int64
	for i := range 4 {
		run := s.Submit(s.Ada, "H200", strings.Repeat("1 ", views.MaxHighlightedBytes/2-8)+fmt.Sprint(i))
		s.Finish(run, 1e4)
		ids = append(ids, run.SubmissionID)
	}
	s.Costs(t, "256 kB of numbers",
		func(time int) string { return fmt.Sprintf("/submissions/%d?tab=source", ids[time-1]) })
}

func TestNoDescriptionCostsItsReadersMoreThanARequestMay(t *testing.T) {
	s := webtest.NewScene(t)
	columns := "|" + strings.Repeat("a|", 5000) + "\n|" + strings.Repeat("-|", 5000) + "\n"
	var paths []string
	for i := range 4 {
		bundle := modelstest.Bundle(fmt.Sprint("wide-", i))
		bundle.Definition.Description = fmt.Sprint(i, "\n\n", columns, strings.Repeat("|\n", 20_000))
		task, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), s.Admin,
			catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: bundle})
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, "/tasks/"+task.Slug)
	}
	s.Costs(t, "a table of 5,000 columns", func(time int) string { return paths[time-1] })
}

func TestNoFormCostsMoreThanARequestMay(t *testing.T) {
	const size, text = 4_000_000, 1_000_000 // bytes of a form, and of the text that a refused form shows again
	s := webtest.NewScene(t)
	b := s.BrowserOf(s.Ada)
	token := url.Values{site.CSRFField: {b.CSRF()}}.Encode()
	for name, test := range map[string]struct{ path, fields string }{
		"fields of a form": {"/me/tokens", strings.Repeat("&a=", size/3)},
		"names of fields":  {"/playground", "&" + strings.ReplaceAll(webtest.DeviceNames(500_000), " ", "&")},
		"values of a contract": {"/playground", "&kernel=x&kernel_type=torch&contract={%22args%22:[" +
			strings.Repeat("{},", text/3) + "{}]}"},
		"keys of the metadata": {"/playground", "&kernel=x&kernel_type=torch&kernel_metadata=" +
			strings.ReplaceAll(webtest.Keys(text), `"`, "%22")},
		"values of the metadata": {"/playground", "&kernel=x&kernel_type=torch&kernel_metadata={%22a%22:[" +
			strings.Repeat("1,", text/2-100) + "1]}"},
	} {
		costtest.Check(t, name, func() {
			resp := b.Send("POST", test.path, strings.NewReader(token+test.fields), "Content-Type",
				"application/x-www-form-urlencoded", "HX-Request", "true")
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode != 422 {
				t.Errorf("%s: %s", name, resp.Status)
			}
		})
	}
}
