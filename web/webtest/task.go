package webtest

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"warpboard/tasks"
	"warpboard/web/site"
)

// Upload sends a form with one file, as a page of the site does.
func (b *Browser) Upload(path, field, name string, data []byte, values url.Values) *http.Response {
	b.Site.T.Helper()
	var buf bytes.Buffer
	form := multipart.NewWriter(&buf)
	form.WriteField(site.CSRFField, b.CSRF())
	for key, list := range values {
		for _, value := range list {
			form.WriteField(key, value)
		}
	}
	if field != "" {
		AddFile(b.Site.T, form, field, name, data)
	}
	form.Close()
	return b.Send(http.MethodPost, path, &buf, "Content-Type", form.FormDataContentType())
}

// AddFile adds a file to a form.
func AddFile(t testing.TB, form *multipart.Writer, field, name string, data []byte) {
	t.Helper()
	file, err := form.CreateFormFile(field, name)
	if err != nil {
		t.Fatal(err)
	}
	file.Write(data)
}

// Fields returns the values that a browser sends for a form in which nothing was changed.
func Fields(form *goquery.Selection) url.Values {
	values := url.Values{}
	form.Find("input[name], textarea[name]").Each(func(_ int, e *goquery.Selection) {
		_, checked := e.Attr("checked")
		kind := e.AttrOr("type", "text")
		if (kind == "checkbox" || kind == "radio") && !checked || kind == "file" ||
			e.AttrOr("name", "") == site.CSRFField {
			return
		}
		values.Add(e.AttrOr("name", ""), e.AttrOr("value", e.Text()))
	})
	return values
}

// ZipOf returns a zip of the built-in C++ vector add, renamed to add_two and modified by change.
func ZipOf(t testing.TB, change func(*tasks.Bundle)) []byte {
	t.Helper()
	b := ExampleTask(t)
	b.Name, b.Definition.Title = "add_two", "Add two"
	change(b)
	var buf bytes.Buffer
	if err := tasks.WriteZip(&buf, b); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// ExampleTask returns the bundle of the built-in C++ vector add.
func ExampleTask(t testing.TB) *tasks.Bundle {
	t.Helper()
	examples, err := tasks.Examples()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(examples, func(b *tasks.Bundle) bool { return b.Name == "vectoradd_cpp" })
	examples[i].Definition.ProblemGroup = "" // without a group, the list of tasks shows the task in a separate row
	return examples[i]
}

// UnchangedBundle is a change function for ZipOf that changes nothing.
func UnchangedBundle(*tasks.Bundle) {}
