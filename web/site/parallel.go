package site

import (
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// Parallel runs independent queries concurrently, and returns when all have ended, with the first error. Each may take
// its own connection; none may touch the request, which is not safe for concurrent use. A panic is passed on to the
// caller's goroutine, where the server recovers; elsewhere it would end the server.
func Parallel(asks ...func() error) error {
	var group errgroup.Group
	panics := make(chan string, len(asks))
	for _, ask := range asks[1:] {
		group.Go(func() error { return catchPanic(ask, panics) })
	}
	err := catchPanic(asks[0], panics)
	if other := group.Wait(); err == nil {
		err = other
	}
	select {
	case why := <-panics:
		panic(why)
	default:
		return err
	}
}

// catchPanic keeps a panic, with the place where it happened.
func catchPanic(ask func() error, panics chan<- string) error {
	defer func() {
		if why := recover(); why != nil {
			panics <- fmt.Sprintf("%v\n%s", why, debug.Stack())
		}
	}()
	return ask()
}
