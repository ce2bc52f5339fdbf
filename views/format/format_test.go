package format

import (
	"math"
	"testing"
	"time"
)

func TestTimesAreShownInTheUnitThatFits(t *testing.T) {
	for _, test := range []struct {
		ns                      float64
		number, unitName, exact string
	}{
		{12340.5, "12.34", "µs", "12340.5 ns"},
		{1, "1.00", "ns", "1 ns"},
		{9.994, "9.99", "ns", "9.99 ns"},
		{9.9996, "10.00", "ns", "10 ns"},
		{0.25, "0.25", "ns", "0.25 ns"},
		{0.0001, "<\u00a00.01", "ns", "0.0001 ns"},
		{999.4, "999.4", "ns", "999.4 ns"},
		{999.96, "1.000", "µs", "999.96 ns"},
		{999960, "1.000", "ms", "999960 ns"},
		{9999.6, "10.00", "µs", "9999.6 ns"},
		{1e6, "1.000", "ms", "1000000 ns"},
		{2.5e9, "2.500", "s", "2500000000 ns"},
		{123456e9, "123500", "s", "123456000000000 ns"},
		{0, "–", "", ""},
		{math.NaN(), "–", "", ""},
		{math.Inf(1), "–", "", ""},
		{-5, "–", "", ""},
	} {
		got := Nanoseconds(test.ns)
		if want := (Quantity{test.number, test.unitName, test.exact}); got != want {
			t.Errorf("Nanoseconds(%v) = %+v, want %+v", test.ns, got, want)
		}
	}
}

func TestComparedTimesShareTheirUnitAndDecimals(t *testing.T) {
	for _, test := range []struct {
		ns, other float64
		want      string
	}{
		{81423.7, 79982.2, "81.42\u00a0µs"},
		{3304051.98, 79982.2, "3\u202f304.05\u00a0µs"},
		{9e3, 101e3, "9.000\u00a0µs"},
		{995, 1004, "0.995\u00a0µs"},
		{1004, 995, "1\u202f004.0\u00a0ns"},
		{80e9, 80e3, "80.00\u00a0s"},     // too long to be shown in µs
		{7990, 79982.2, "7.990\u00a0µs"}, // too short for the unit's decimals
		{80e3, 0, "80.00\u00a0µs"},
		{0, 80e3, "–"},
	} {
		if got := NanosecondsLike(test.ns, test.other).String(); got != test.want {
			t.Errorf("%v ns beside %v ns is %q, want %q", test.ns, test.other, got, test.want)
		}
	}
	if got := NanosecondsLike(1004, 995).ExactText; got != "1004 ns" {
		t.Errorf("the exact value is %q", got)
	}
}

func TestAllDigitsOfANumberAreGroupedInOneWay(t *testing.T) {
	for want, v := range map[string]float64{"12\u202f976": 12976.000000, "1\u202f291\u202f120\u202f815.14": 1291120815.14, "\u22120.5": -0.5, "0.00001": 1e-5} {
		if got := AllDigits(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

func TestNumbersReadWell(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{RelativeError(100, 0.4), "± 0.40\u00a0%"},
		{RelativeError(100, 4), "± 4.0\u00a0%"},
		{RelativeError(100, 0.0001), "< 0.01\u00a0%"},
		{RelativeError(100, 100), "± 100.0\u00a0%"},
		{RelativeError(100, 273.1), "> ± 100\u00a0%"},
		{RelativeError(100, 0), "± 0\u00a0%"},
		{RelativeError(0, 1), "–"},
		{RelativeError(1, math.NaN()), "–"},
		{GapToBest(10, 10), ""},
		{GapToBest(11.25, 10), "+12.5\u00a0%"},
		{GapToBest(34, 10), "3.4×"},
		{GapToBest(10.001, 10), "< 0.1\u00a0%"},
		{GapToBest(1, 0), ""},
		{TimeFactor(1.001), "< 0.5\u00a0%"},
		{TimeFactor(1.274), "1.27×"},
		{TimeFactor(12.14), "12.1×"},
		{Bytes(12), "12\u00a0B"},
		{Bytes(1536), "1.5\u00a0KiB"},
		{Bytes(139 << 30), "139\u00a0GiB"},
		{Count(1234567), "1\u202f234\u202f567"},
		{Count(-1234), "−1\u202f234"},
		{Count(999), "999"},
		{Plural(1, "case", "cases"), "1 case"},
		{Plural(1000, "case", "cases"), "1\u202f000 cases"},
		{Duration(840 * time.Millisecond), "840\u00a0ms"},
		{Duration(5 * time.Second), "5\u00a0s"},
		{Duration(12345 * time.Millisecond), "12.3\u00a0s"},
		{Duration(245 * time.Second), "4\u00a0min 05\u00a0s"},
		{Duration(3 * time.Minute), "3\u00a0min"},
		{Duration(130 * time.Minute), "2\u00a0h 10\u00a0min"},
		{Duration(30*time.Hour - time.Second), "1\u00a0day 5\u00a0h"},
		{Duration(80 * time.Hour), "3\u00a0days"},
		{Duration(-1), "–"},
		{Decimal(1234567), "1\u202f234\u202f567"},
		{Decimal(-59.4), "−59.40"},
		{Decimal(999.96), "1\u202f000"},
		{Decimal(2), "2"},
		{Decimal(0.00012344), "0.0001234"},
		{Decimal(math.NaN()), "–"},
		{Decimal(math.Inf(-1)), "–"},
		{Percent(0.1234), "12.3\u00a0%"},
		{Percent(0.0001), "< 0.1\u00a0%"},
		{Percent(0), "0.0\u00a0%"},
		{WithUnitPrefix(3.35e12, "B/s"), "3.350\u00a0TB/s"},
		{WithUnitPrefix(999.96e9, "FLOP/s"), "1\u00a0TFLOP/s"},
		{WithUnitPrefix(12, "B"), "12\u00a0B"},
		{WithUnitPrefix(2e21, "B"), "2\u202f000\u00a0EB"},
		{ExactNumber(0.1), "0.1"},
		{UpperFirst("été"), "Été"},
		{UpperFirst(""), ""},
		{LowerFirst("Mean time"), "mean time"},
		{ErrorSentence(" no such task "), "No such task."},
		{ErrorSentence("did you mean x?"), "Did you mean x?"},
		{ErrorSentence(""), ""},
		{TimeBetween(time.Time{}, time.Unix(1, 0)), "–"},
		{TimeBetween(time.Unix(1, 0), time.Unix(6, 0)), "5\u00a0s"},
		{DateMinute(time.Unix(0, 0)), "1 Jan 1970, 00:00 UTC"},
		{DateSecond(time.Unix(7, 0)), "1 Jan 1970, 00:00:07 UTC"},
		{TimeOfDay(time.Unix(3660, 0)), "01:01 UTC"},
		{Day(time.Unix(0, 0)), "1 Jan 1970"},
		{FormTime(time.Unix(7, 0)), "1970-01-01T00:00:07"},
		{Nanoseconds(1500).String(), "1.500\u00a0µs"},
		{Nanoseconds(0).String(), "–"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
