package site

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestValuesAreCountedAndTextsAreOne(t *testing.T) {
	list := func(n int) string { return "[" + strings.Repeat(",", n-1) + "]" } // n values
	for text, want := range map[string]bool{
		``: false, `{}`: false, `"`: false, `"\`: false, `{"a":"\\"}`: false, list(MostValues): false, list(MostValues + 1): true,
		`{"a":"` + strings.Repeat(`{[,\"`, MostValues) + `"}`: false,
		`{"a":"\\` + `",` + strings.Repeat("[", MostValues):   true,
		strings.Repeat(`"\"",`, MostValues+1):                 true,
	} {
		if got := HasMoreValues([]byte(text), MostValues); got != want {
			t.Errorf("%.40s… of %d bytes has too many values: %v", text, len(text), got)
		}
	}
}

func TestCountingTheLargestBodyTakesAMoment(t *testing.T) {
	const size = 12 << 20
	for name, text := range map[string]string{"a text": `{"a":"` + strings.Repeat("x", size) + `"}`, "escapes": `{"a":"` + strings.Repeat(`\n`, size/2) + `"}`,
		"texts": strings.Repeat(`"":`, size/3), "nothing": strings.Repeat(" ", size)} {
		body := []byte(text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		HasMoreValues(body, MostValues)
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		t.Logf("%s: %v", name, took)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
			t.Errorf("%s: %d bytes were allocated", name, allocated)
		}
	}
}
