package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"warpboard/clients/go"
)

// Exit codes.
const (
	// Scripts depend on the codes, so the meaning of a code must not change. Shells use 130 after an interrupt.
	ExitOtherError  = 1
	ExitUsage       = 2
	ExitFailed      = 3
	ExitRefused     = 4
	ExitNotSignedIn = 5
	ExitUnreachable = 6
	ExitInterrupted = 130
)

// ExitHelp explains the exit codes.
const ExitHelp = `Exit codes of the commands that talk to a site:
  0    success
  1    any other error
  2    wrong command line
  3    a run did not pass, or in ci a kernel got slower (submit --watch, watch, evaluate, ci)
  4    the site refused the request
  5    you are not signed in (run warpboard login), or you lack the right
  6    the site did not answer; try again
  130  interrupted
`

// ExitError is an error with an exit code.
type ExitError struct {
	Code int
	error
}

// Unwrap returns the error without the code.
func (e ExitError) Unwrap() error { return e.error }

// ExitWith returns an error with an exit code that the command chooses.
func ExitWith(code int, format string, args ...any) error {
	return ExitError{code, fmt.Errorf(format, args...)}
}

// NewUsageError returns an error about a mistake in the command line.
func NewUsageError(format string, args ...any) error {
	return ExitError{ExitUsage, fmt.Errorf(format, args...)}
}

// NewFailedError returns an error for a command that succeeded in showing a failed result.
func NewFailedError(format string, args ...any) error {
	return ExitError{ExitFailed, fmt.Errorf(format, args...)}
}

// ExitCode returns the exit code for an error.
func ExitCode(err error) int {
	var own ExitError
	var refused *client.Problem
	var away *url.Error
	switch {
	case err == nil:
		return 0
	// An ExitError takes precedence, because the command chose the code.
	case errors.As(err, &own):
		return own.Code
	// Only an interrupt cancels a context; after a time limit the error is DeadlineExceeded.
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &refused):
		switch {
		case refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden:
			return ExitNotSignedIn
		// A retry may succeed, and scripts can see that from the code.
		case refused.Status >= 500 || refused.Status == http.StatusTooManyRequests:
			return ExitUnreachable
		}
		return ExitRefused
	case errors.As(err, &away):
		return ExitUnreachable
	}
	return ExitOtherError
}
