package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"warpboard/web/client"
)

// The exit codes.
const (
	// Scripts depend on them: a code never changes its meaning. 130 is what shells give to a process that an interrupt
	// ended.
	exitOther   = 1
	exitUsage   = 2
	exitFailed  = 3
	exitRefused = 4
	exitWho     = 5
	exitAway    = 6
	exitStopped = 130
)

// ExitHelp explains the exit codes.
const ExitHelp = `Exit codes of the commands that talk to a site:
  0    it went well
  1    something else went wrong
  2    the command line is wrong
  3    a run did not pass, or a score got worse (submit --watch, watch, evaluate, ci)
  4    the site refused what was asked
  5    sign in first (warpboard login), or you may not do that
  6    the site did not answer, or could not just now: try again
  130  it was interrupted
verify-result and verify-chain have codes of their own; their --help tells them.
`

// Exit is an error with an exit code.
type Exit struct {
	Code int
	error
}

// Unwrap is the error.
func (e Exit) Unwrap() error { return e.error }

// ExitWith is an error with an exit code of a command of its own.
func ExitWith(code int, format string, args ...any) error {
	return Exit{code, fmt.Errorf(format, args...)}
}

// Usage is a mistake in the command line.
func Usage(format string, args ...any) error { return Exit{exitUsage, fmt.Errorf(format, args...)} }

// failed says that what was asked went well, and what was measured did not.
func failed(format string, args ...any) error { return Exit{exitFailed, fmt.Errorf(format, args...)} }

// ExitCode is the exit code for an error.
func ExitCode(err error) int {
	var own Exit
	var refused *client.Problem
	var away *url.Error
	switch {
	case err == nil:
		return 0
	// An Exit comes first: it says what the command meant, whatever error is inside.
	case errors.As(err, &own):
		return own.Code
	// Only an interrupt cancels: limits of time are DeadlineExceeded.
	case errors.Is(err, context.Canceled):
		return exitStopped
	case errors.As(err, &refused):
		switch {
		case refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden:
			return exitWho
		// Either may be gone at the next try, which is what scripts want to know.
		case refused.Status >= 500 || refused.Status == http.StatusTooManyRequests:
			return exitAway
		}
		return exitRefused
	case errors.As(err, &away):
		return exitAway
	}
	return exitOther
}
