package job

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

const most = 1 << 12

func TestValuesAreCountedAndTextsAreOne(t *testing.T) {
	list := func(n int) string { return "[" + strings.Repeat(",", n-1) + "]" } // returns JSON with n values
	for text, want := range map[string]bool{
		``: false, `{}`: false, `"`: false, `"\`: false, `{"a":"\\"}`: false, list(most): false, list(most + 1): true,
		`{"a":"` + strings.Repeat(`{[,\"`, most) + `"}`: false,
		`{"a":"\\` + `",` + strings.Repeat("[", most):   true,
		strings.Repeat(`"\"",`, most+1):                 true,
	} {
		if got := ExceedsValueCount([]byte(text), most); got != want {
			t.Errorf("%.40s… of %d bytes has too many values: %v", text, len(text), got)
		}
	}
}

func TestCountingTheLargestBodyTakesAMoment(t *testing.T) {
	const size = 12 << 20
	for name, text := range map[string]string{"a text": `{"a":"` + strings.Repeat("x", size) + `"}`,
		"escapes": `{"a":"` + strings.Repeat(`\n`, size/2) + `"}`,
		"texts":   strings.Repeat(`"":`, size/3), "nothing": strings.Repeat(" ", size)} {
		body := []byte(text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		ExceedsValueCount(body, most)
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		t.Logf("%s: %v", name, took)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
			t.Errorf("%s: %d bytes were allocated", name, allocated)
		}
	}
}
