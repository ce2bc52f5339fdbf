package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

var unseenNames = []string{"a\r\nSet-Cookie: x=1.cpp", "a\nb.cpp", "a\rb.cpp", "a\tb.cpp", "a\u202Ecpp.exe.cpp",
	"a\u0085b.cpp"}

func TestNamesOfUploadedFilesHoldNothingUnseen(t *testing.T) {
	store := modelstest.Open(t)
	s, token := webtest.StartAt(t, "127.0.0.1:0", store), submitter(t, store)
	for _, name := range unseenNames {
		request, err := json.Marshal(map[string]any{"task": "vectoradd", "devices": []string{"CPU"}, "file_name": name,
			"source": "int main;"})
		if err != nil {
			t.Fatal(err)
		}
		webtest.WantProblem(t, s.Ask("POST", "/api/v1/submissions", token, string(request)),
			http.StatusUnprocessableEntity, "invalid")
	}
}

// File names that an older version stored may contain line breaks. The download must have one header with a clean name.
func TestNamesOfDownloadsHoldNoLineBreak(t *testing.T) {
	store := modelstest.Open(t)
	s, token := webtest.StartAt(t, "127.0.0.1:0", store), submitter(t, store)
	resp := s.Ask("POST", "/api/v1/submissions", token, submission)
	webtest.WantStatus(t, resp, http.StatusCreated)
	for _, name := range unseenNames {
		if _, err := store.SQL().ExecContext(t.Context(), "update submissions set file_name = ?", name); err != nil {
			t.Fatal(err)
		}
		resp := s.Ask("GET", "/submissions/1/source", token, "")
		webtest.WantStatus(t, resp, http.StatusOK)
		got := resp.Header.Get("Content-Disposition")
		if resp.Header.Get("Set-Cookie") != "" || !strings.HasPrefix(got, `attachment; filename="a_`) ||
			strings.ContainsAny(got, "\r\n\t") ||
			strings.Contains(got, "%0") || strings.Contains(got, "%E2%80%AE") || strings.Contains(got, "%C2%85") {
			t.Errorf("%q is downloaded as %q", name, got)
		}
	}
}
