package site

import (
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// RunParallel runs functions concurrently, waits for all, and returns the first error. Each may use a separate database
// connection. None may use the fiber.Ctx, which is not safe for concurrent use. A panic is raised again in the caller's
// goroutine, where the server recovers it.
func RunParallel(asks ...func() error) error {
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

// catchPanic calls ask. If it panics, catchPanic sends the panic and its stack to panics.
func catchPanic(ask func() error, panics chan<- string) error {
	defer func() {
		if why := recover(); why != nil {
			panics <- fmt.Sprintf("%v\n%s", why, debug.Stack())
		}
	}()
	return ask()
}
