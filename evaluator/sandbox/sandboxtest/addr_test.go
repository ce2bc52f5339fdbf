package sandboxtest

import (
	"net"
	"testing"
)

func TestAddressesBelongToOneAtATime(t *testing.T) {
	var first string
	t.Run("the first has it until it ends", func(t *testing.T) {
		first = Addr(t)
		if second := Addr(t); second == first {
			t.Errorf("%s was given to two", first)
		}
	})
	l, err := net.Listen("tcp", first)
	if err != nil {
		t.Skipf("something else has taken it in the meantime: %v", err)
	}
	defer l.Close()
	if Addr(t) == first {
		t.Errorf("%s was given out while something listens there", first)
	}
}
