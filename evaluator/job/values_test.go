package job_test

import (
	"encoding/json"
	"strings"
	"testing"

	"warpboard/evaluator/job"
)

func TestMessagesOfTooManyValuesAreNotDecoded(t *testing.T) {
	for name, element := range map[string]string{"objects": "{}", "numbers": "0", "null": "null", "texts": `""`} {
		many := `{"stages":[` + strings.Repeat(element+",", job.MaxJSONValues) + element + `]}`
		if err := job.CheckValueCount([]byte(many)); err == nil {
			t.Errorf("%d %s pass", job.MaxJSONValues, name)
		}
	}
}

func TestCommasInTextsAreNoValues(t *testing.T) {
	for _, text := range []string{strings.Repeat(`,[{`, job.MaxJSONValues), strings.Repeat(`\",`, job.MaxJSONValues),
		strings.Repeat(`"`, 10) + strings.Repeat(",", job.MaxJSONValues)} {
		data, err := json.Marshal(map[string]string{"stdout": text})
		if err != nil {
			t.Fatal(err)
		}
		if err := job.CheckValueCount(data); err != nil {
			t.Errorf("a text with commas is refused: %v", err)
		}
	}
}
