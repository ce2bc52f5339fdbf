package format

import "testing"

func TestAFactorHasThreeDigits(t *testing.T) {
	for ratio, want := range map[float64]string{0.9236: "0.924×", 1: "1.00×", 1.266: "1.27×", 12.08: "12.1×", 123.4: "123×", 4567: "4567×", 0: "0.000×"} {
		if got := Factor(ratio); got != want {
			t.Errorf("%g is %s, want %s", ratio, got, want)
		}
	}
}
