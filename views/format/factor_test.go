package format

import "testing"

func TestAnErrorHasThreeDigits(t *testing.T) {
	for off, want := range map[float64]string{0: "0", 0.4994: "0.499", 0.5: "0.5", 12.46: "12.5",
		8388608: "8.39\u00a0×\u00a010⁶", 4194.3: "4\u202f190",
		5.964e-8: "5.96\u00a0×\u00a010⁻⁸", 999_999.9: "1.00\u00a0×\u00a010⁶", 0.001: "0.001",
		1e300: "1.00\u00a0×\u00a010³⁰⁰"} {
		if got := NumericalError(off); got != want {
			t.Errorf("%g is %s, want %s", off, got, want)
		}
	}
}

func TestAFactorHasThreeDigits(t *testing.T) {
	for ratio, want := range map[float64]string{0.9236: "0.924×", 1: "1.00×", 1.266: "1.27×", 12.08: "12.1×",
		123.4: "123×", 4567: "4567×", 0: "0.000×"} {
		if got := SpeedFactor(ratio); got != want {
			t.Errorf("%g is %s, want %s", ratio, got, want)
		}
	}
}
