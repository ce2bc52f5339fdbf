package mcp_test

import (
	"strings"
	"testing"

	"warpboard/web/mcp"
)

func TestOnlySourcesMakeAMessageLarge(t *testing.T) {
	long := `"` + strings.Repeat("a", 2*mcp.MaxBytesOutsideSources) + `"`
	call := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"b":1,` + arguments +
			`}}}`
	}
	for message, want := range map[string]bool{
		call(`"source":` + long):                                                  true,
		call(`"kernel_source":` + long + `,"c":[1,{"d":2}]`):                      true,
		call(`"request":{"kernel":{"a":[1,2],"source_code":` + long + `},"z":1}`): true,
		call(`"files":{"a":` + long + `,"b":` + long + `}`):                       true,
		call(`"task":` + long):                                                    false,
		call(`"task":{"source":` + long + `}`):                                    false,
		call(`"source":"a","task":` + long):                                       false,
		`{"id":` + long + `}`:                                                     false,
		`{"params":{"source":` + long + `}}`:                                      false,
		`{"arguments":{"params":{"source":` + long + `}}}`:                        false,
		`[` + long + `]`:                                                          false,
		long:                                                                      false,
		"{" + strings.Repeat(" ", 2*mcp.MaxBytesOutsideSources):                   false,
		`{"id":1}`: true,
		"no JSON":  true,
	} {
		if got := mcp.HasAcceptableSize([]byte(message)); got != want {
			t.Errorf("%.90s…: %v", message, got)
		}
	}
}
