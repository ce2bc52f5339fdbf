package site

import (
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// Beside asks questions at once of which none needs another's answer, and returns when all have ended, with the first error.
// Each may take a connection of its own; none may touch the request, which is not safe for several goroutines.
// What panics, panics in the caller's goroutine: the server recovers there, and a panic elsewhere would end it.
func Beside(asks ...func() error) error {
	var group errgroup.Group
	panics := make(chan string, len(asks))
	for _, ask := range asks[1:] {
		group.Go(func() error { return caught(ask, panics) })
	}
	err := caught(asks[0], panics)
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

// caught keeps a panic, with the place where it happened.
func caught(ask func() error, panics chan<- string) error {
	defer func() {
		if why := recover(); why != nil {
			panics <- fmt.Sprintf("%v\n%s", why, debug.Stack())
		}
	}()
	return ask()
}
