package site

import (
	"errors"
	"strings"
	"testing"
)

func TestQuestionsBesideEachOtherAllEnd(t *testing.T) {
	first, second := make(chan int), make(chan int)
	boom := errors.New("boom")
	err := RunParallel(
		// blocks until the second function runs, so both must run at the same time
		func() error { first <- 1; return nil },
		func() error { <-first; second <- 1; return boom },
		func() error { <-second; return nil },
	)
	if !errors.Is(err, boom) {
		t.Errorf("%v, want the error of the second", err)
	}
}

func TestPanicsOfQuestionsReachWhoAsked(t *testing.T) {
	defer func() {
		if why, ok := recover().(string); !ok || !strings.Contains(why, "boom") ||
			!strings.Contains(why, "parallel_test.go") {
			t.Errorf("recovered %q, want the panic and where it was", why)
		}
	}()
	err := RunParallel(func() error { return nil }, func() error { panic("boom") })
	t.Errorf("%v, want a panic", err)
}
