package site

import "testing"

func TestConnectionsLeaveDescriptorsForTheRest(t *testing.T) {
	for nofile, want := range map[int]int{64: 8, 256: 160, 1024: 768, 20_000: 15_000, 1 << 20: maxConnections} {
		l := Limits{}.withDefaults(nofile)
		if l.Connections != want || l.ConnectionsEach >= l.Connections || l.Streams > l.Connections ||
			l.StreamsEach > l.ConnectionsEach {
			t.Errorf("with %d descriptors: %+v, want %d connections", nofile, l, want)
		}
	}
}
