package db

import (
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
)

// Kind is the kind of a failure, from which package site chooses the status.
type Kind string

// The kinds of errors.
const (
	NotFound    Kind = "not found"         // it does not exist, or the viewer may not see it
	Invalid     Kind = "invalid"           // the input is wrong; the message explains it
	Conflict    Kind = "conflict"          // someone else changed or took it
	Forbidden   Kind = "forbidden"         // this person may not do this
	TooMany     Kind = "too many requests" // a limit of the person is used up; see RetryAfter
	Unavailable Kind = "unavailable"       // the database restarts or is full; retrying in a moment may work
	Internal    Kind = "internal"          // everything else
)

// Error is a failure with a kind for the program and a sentence for the person.
type Error struct {
	Kind       Kind
	Message    string
	RetryAfter time.Duration // time to wait, for TooMany
}

// Error returns the sentence.
func (e *Error) Error() string { return e.Message }

// Errorf makes an Error of a kind.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// TooManyf makes an Error that asks to retry after a wait.
func TooManyf(wait time.Duration, format string, args ...any) *Error {
	return &Error{Kind: TooMany, Message: fmt.Sprintf(format, args...), RetryAfter: wait}
}

// KindOf returns the kind of the Error in err, or else of the database's own error.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	if isUnavailable(err) {
		return Unavailable
	}
	return Internal
}

// ReadError adds the name of the object: a missing row becomes NotFound, any other error keeps its cause.
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

// WriteError adds the name of the object: a taken unique key becomes Conflict.
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
