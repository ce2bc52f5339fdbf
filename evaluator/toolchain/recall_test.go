package toolchain

import "testing"

func TestWhatWasCompiledIsRecalledForTheSameOwnerAndKernelsAlone(t *testing.T) {
	b := newBuilder()
	k := RecallKey{Owner: t.Name(), Arch: "90", Text: "kernels"}
	b.Remember([]byte("archive"), k)
	if got := string(b.Recall(k)); got != "archive" {
		t.Errorf("got %q", got)
	}
	for name, other := range map[string]RecallKey{
		"owner": {"another", k.Arch, k.Text}, "arch": {k.Owner, "80", k.Text}, "kernels": {k.Owner, k.Arch, "others"},
	} {
		if got := b.Recall(other); got != nil {
			t.Errorf("another %s: got %q", name, got)
		}
	}
	nobody := RecallKey{Arch: k.Arch, Text: k.Text}
	b.Remember([]byte("archive"), nobody)
	if got := b.Recall(nobody); got != nil {
		t.Errorf("for nobody %q is kept", got)
	}
}
