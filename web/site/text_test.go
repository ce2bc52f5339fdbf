package site_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/web/site"
)

func TestATextThatReadingWouldChangeIsFoundWithItsPlace(t *testing.T) {
	for body, want := range map[string]*site.InvalidJSONText{
		`{"a":"x","b":[1,{"c":"é\ud83d\ude00\\ud83d"}]}`: nil,
		`{}`:                nil,
		"{\"a\":\"x\xff\"}": {Path: []string{"a"}, Line: 1},
		"{\"a\":{\"b\":1},\"c\":[[],{\"d\":0,\"e\":\"x\\n\\\\n\\n\xc3\"}]}": {Path: []string{"c", "1", "e"}, Line: 3},
		"[\"a\",\"\xed\xa0\x80\"]":           {Path: []string{"1"}, Line: 1},
		"{\"a\":1,\"\xff\":2}":               {Line: 1},
		`{"a":"\n\udcff"}`:                   {Path: []string{"a"}, Line: 2},
		`{"a":["\uD83D\uD83D\uDE00"]}`:       {Path: []string{"a", "0"}, Line: 1},
		"{\"a\":\"\\ud83d\",\"b\":\"\xff\"}": {Path: []string{"a"}, Line: 1},
	} {
		if diff := cmp.Diff(want, site.FindInvalidText([]byte(body))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}
