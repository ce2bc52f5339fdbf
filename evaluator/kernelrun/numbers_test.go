package kernelrun

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestLargeIntegersReachTheWorkerAsTheyWereWritten(t *testing.T) {
	r := read(t, KindEvaluate, `{"kernel":{"source_code":"","kernel_type":"torch","metadata":{"n":9007199254740995},"io":{"args":[
		{"name":"x","type":"tensor","tensor_spec":{"shape":[1],"init":{"seed":9007199254740993}}},
		{"name":"n","type":"int","value":9223372036854775807}]}}}`)
	sent, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got Request
	if err := json.Unmarshal(sent, &got); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"9007199254740995", "9007199254740993", "9223372036854775807"} {
		if !strings.Contains(string(again), want) {
			t.Errorf("%s was lost: %s", want, again)
		}
	}
}

func TestUnreadableValuesAreRefusedWithTheirPath(t *testing.T) {
	large := strings.Repeat("9", 5000)
	for name, c := range map[string]struct{ metadata, shape, value, field string }{
		"an extent beyond 64 bits": {shape: "1180591620717411303424",
			field: "kernel -> io -> args -> 0 -> tensor_spec -> shape -> 0"},
		"a negative extent":       {shape: "-1", field: "kernel -> io -> args -> 0 -> tensor_spec -> shape -> 0"},
		"a scalar of 5000 digits": {value: large, field: "kernel -> io -> args -> 1 -> value"},
		"metadata 5000 deep": {metadata: strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000),
			field: "kernel -> metadata -> a"},
		"metadata of 5000 digits":  {metadata: large, field: "kernel -> metadata -> a"},
		"metadata beyond a double": {metadata: "1e999", field: "kernel -> metadata -> a"},
	} {
		set := func(s, other string) string {
			if s == "" {
				return other
			}
			return s
		}
		_, problems := ReadRequest(KindEvaluate, decode(t, `{"kernel":{"source_code":"","kernel_type":"torch","metadata":{"a":`+set(c.metadata, "1")+`},"io":{"args":[
			{"name":"x","type":"tensor","tensor_spec":{"shape":[`+set(c.shape, "1")+`]}},{"name":"n","type":"int","value":`+set(c.value, "1")+`}]}}}`), RefuseAll)
		if len(problems) != 1 || !strings.HasPrefix(problems[0].Field, c.field) {
			t.Errorf("%s: problems are %v, want one at %s", name, problems, c.field)
		}
	}
}
