package site_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/web/site"
)

func TestAWalkKnowsWhereItIs(t *testing.T) {
	const text = `{"a": [1, {"b": 2}], "c": 3`
	var got []string
	for w := site.NewJSONWalker([]byte(text)); w.NextToken(); {
		var at []string
		for _, in := range w.OpenContainers() {
			switch {
			case in.IsList:
				at = append(at, fmt.Sprint(in.ElementCount))
			case in.IsInValue:
				at = append(at, in.Key+":")
			default:
				at = append(at, in.Key)
			}
		}
		got = append(got, fmt.Sprintf("%d %s", w.Offset(), strings.Join(at, "/")))
	}
	want := []string{"1 ", "4 a:", "7 a:/0", "8 a:/1", "11 a:/1/", "14 a:/1/b:", "17 a:/1/b", "18 a:/2", "19 a",
		"24 c:", "27 c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}
