package db

import (
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
)

// ErrorKind classifies errors. Package site maps it to an HTTP status.
type ErrorKind string

// Kinds of errors.
const (
	NotFound    ErrorKind = "not found"         // it does not exist, or the viewer may not see it
	Invalid     ErrorKind = "invalid"           // the input is wrong; the message explains it
	Conflict    ErrorKind = "conflict"          // another person has changed the object, or already uses its name
	Forbidden   ErrorKind = "forbidden"         // this person may not do this
	TooMany     ErrorKind = "too many requests" // a limit of the person is used up; see RetryAfter
	Unavailable ErrorKind = "unavailable"       // the database restarts or is full; retrying in a moment may work
	Internal    ErrorKind = "internal"          // everything else
)

// Error is an error with a kind for programs and a sentence for people.
type Error struct {
	Kind       ErrorKind
	Message    string
	RetryAfter time.Duration // time to wait, for TooMany
}

// Error returns the sentence.
func (e *Error) Error() string { return e.Message }

// Errorf returns an Error of a kind.
func Errorf(kind ErrorKind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// TooManyf returns an Error of kind TooMany that may be retried after a wait.
func TooManyf(wait time.Duration, format string, args ...any) *Error {
	return &Error{Kind: TooMany, Message: fmt.Sprintf(format, args...), RetryAfter: wait}
}

// KindOf returns the kind of the Error that err wraps, or the kind of a database error.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	if isUnavailable(err) {
		return Unavailable
	}
	return Internal
}

// ReadError wraps an error of reading an object; what and args describe the object. A missing row becomes NotFound.
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

// WriteError wraps an error of writing an object; what and args describe the object. A violated unique key becomes
// Conflict.
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
