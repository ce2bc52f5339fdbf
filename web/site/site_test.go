package site

import "testing"

func TestBaseURLFollowsTheAddress(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:3000": "http://127.0.0.1:3000",
		":3000":          "http://localhost:3000",
		"0.0.0.0:80":     "http://localhost:80",
		"[::]:3000":      "http://localhost:3000",
		"10.0.0.7:3000":  "http://10.0.0.7:3000",
	} {
		if got := "http://" + browserHost(addr); got != want {
			t.Errorf("%s is reached at %s, want %s", addr, got, want)
		}
	}
}
