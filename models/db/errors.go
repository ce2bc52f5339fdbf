package db

import (
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
)

// Kind is the sort of a failure, from which the web chooses the status in one place.
type Kind string

// The kinds of errors.
const (
	NotFound    Kind = "not found"         // it is not there, or the viewer may not know that it is
	Invalid     Kind = "invalid"           // the input is wrong; the message says how
	Conflict    Kind = "conflict"          // it was changed or taken by someone else in the meantime
	Forbidden   Kind = "forbidden"         // this person may not do this
	TooMany     Kind = "too many requests" // a limit of the person is used up; see RetryAfter
	Unavailable Kind = "unavailable"       // the database restarts or is full; retrying in a moment may work
	Internal    Kind = "internal"          // everything else
)

// Error is a failure with a kind for the program and a sentence for the person.
type Error struct {
	Kind       Kind
	Message    string
	RetryAfter time.Duration // TooMany: how long to wait
}

// Error returns the sentence.
func (e *Error) Error() string { return e.Message }

// Errorf makes an Error of a kind.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// TooManyf makes an Error that says to try again after a wait.
func TooManyf(wait time.Duration, format string, args ...any) *Error {
	return &Error{Kind: TooMany, Message: fmt.Sprintf(format, args...), RetryAfter: wait}
}

// KindOf returns the kind of err: that of the Error inside it, or else of the database's own error.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	if unavailable(err) {
		return Unavailable
	}
	return Internal
}

// ReadError names what was read: a missing row becomes NotFound, anything else keeps its cause.
func ReadError(err error, what string, args ...any) error {
	what = fmt.Sprintf(what, args...)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gorm.ErrRecordNotFound):
		return Errorf(NotFound, "There is no %s.", what)
	}
	return fmt.Errorf("reading %s: %w", what, err)
}

// WriteError names what was written: a unique key that is taken becomes Conflict.
func WriteError(err error, what string, args ...any) error {
	what = fmt.Sprintf(what, args...)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gorm.ErrDuplicatedKey):
		return Errorf(Conflict, "Another %s has that name already.", what)
	}
	return fmt.Errorf("saving %s: %w", what, err)
}
