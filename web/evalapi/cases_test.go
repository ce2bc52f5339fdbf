package evalapi_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"warpboard/web/webtest"
)

// evalCase is a request with the values that its answer must have.
type evalCase struct {
	body webtest.Object
	want webtest.Object // wanted fields of kernel_exec_result, or of ref_runtime if the key begins with "ref_runtime."
}

var sectionLine = regexp.MustCompile(`(?m)^# (ref_kernel|custom_kernel|kernel): (\w+)\n`)

// readCase reads a file of testdata/cases. Its first comments contain JSON: other fields of the request body (# body:)
// and the wanted answer (# want:). Then come the kernels, each after a line with its field and its type.
func readCase(t *testing.T, path string) (c evalCase) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c.body = webtest.Object{"num_trials": 3, "timeout": 60, "l2_flush": false}
	for name, into := range map[string]*webtest.Object{"# body: ": &c.body, "# want: ": &c.want} {
		for line := range strings.Lines(string(text)) {
			if object, ok := strings.CutPrefix(line, name); ok {
				if err := json.Unmarshal([]byte(object), into); err != nil {
					t.Fatalf("%s: %s: %v", path, name, err)
				}
			}
		}
	}
	sections := sectionLine.FindAllSubmatchIndex(text, -1)
	for i, at := range sections {
		end := len(text)
		if i+1 < len(sections) {
			end = sections[i+1][0]
		}
		field := string(text[at[2]:at[3]])
		kernel, _ := c.body[field].(webtest.Object)
		if kernel == nil {
			kernel = webtest.Object{}
		}
		kernel["kernel_type"], kernel["source_code"] = string(text[at[4]:at[5]]), string(text[at[1]:end])
		c.body[field] = kernel
	}
	return c
}

// holds reports whether got matches want. A string that begins with ~ must be contained in got, and "positive" stands
// for any number above 0; null means that the field is absent.
func holds(want, got any) bool {
	part, ok := want.(string)
	if part, contained := strings.CutPrefix(part, "~"); ok && contained {
		return got != nil && strings.Contains(fmt.Sprint(got), part)
	}
	if want == "positive" {
		number, _ := got.(float64)
		return number > 0
	}
	return fmt.Sprint(want) == fmt.Sprint(got)
}

// TestSmallCasesHaveTheRightAnswer sends typical kernels and references, and some that other servers evaluated wrongly.
func TestSmallCasesHaveTheRightAnswer(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	s := newWorkingSite(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".py"), func(t *testing.T) {
			c, path := readCase(t, file), "/evaluate"
			if c.body["ref_kernel"] != nil {
				path = "/compare"
			}
			resp, answer := s.Ask("POST", path, c.body)
			result, _ := answer["kernel_exec_result"].(webtest.Object)
			if resp.StatusCode != 200 || len(c.want) == 0 {
				t.Fatalf("%s %v", resp.Status, answer)
			}
			for field, want := range c.want {
				got := result[field]
				if name, ok := strings.CutPrefix(field, "ref_runtime."); ok {
					got = answer["ref_runtime"].(webtest.Object)[name]
				}
				if !holds(want, got) {
					t.Errorf("%s is %v, want %v", field, got, want)
				}
			}
			if t.Failed() {
				delete(result, "times")
				t.Logf("%v", result)
			}
		})
	}
}
