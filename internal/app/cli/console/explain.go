package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"warpboard/clients/go"
)

// PrintError prints an error to the standard error: as a line, or as JSON if the arguments contain --json.
func PrintError(out io.Writer, args []string, err error) {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	asked := func(arg string) bool {
		name, value, given := strings.Cut(arg, "=")
		as, err := strconv.ParseBool(value)
		return name == "--jq" || name == "--json" && (!given || as && err == nil)
	}
	if !slices.ContainsFunc(args, asked) {
		fmt.Fprintln(out, "warpboard:", RemoveControlCharacters(err.Error()))
		return
	}
	object := map[string]any{"error": err.Error(), "exit_code": ExitCode(err)}
	var refused *client.Problem
	if errors.As(err, &refused) {
		object["status"], object["code"] = refused.Status, refused.Code
		if refused.RequestID != "" {
			object["request_id"] = refused.RequestID
		}
		if len(refused.Errors) > 0 {
			object["errors"] = refused.Errors
		}
	}
	text, _ := json.Marshal(object)
	fmt.Fprintf(out, "%s\n", text)
}

// ReplaceMessage returns an error with a new sentence. It wraps err, which determines the exit code.
func ReplaceMessage(err error, format string, args ...any) error {
	return rewordedError{fmt.Sprintf(format, args...), err}
}

// rewordedError is an error with a new sentence. It wraps another error, which determines the exit code.
type rewordedError struct {
	text string
	error
}

func (p rewordedError) Error() string { return p.text }

// Unwrap returns the cause.
func (p rewordedError) Unwrap() error { return p.error }

// ExplainError replaces the terms of libraries and of the API in an error by those of the command line. server is the
// address of the site.
func ExplainError(err error, server string, signedIn bool) error {
	var own ExitError
	var object rewordedError
	var refused *client.Problem
	var away *url.Error
	var file *fs.PathError
	switch {
	case err == nil || errors.As(err, &own) || errors.As(err, &object):
		return err
	case errors.Is(err, context.Canceled):
		return rewordedError{"interrupted", err}
	case errors.As(err, &refused) && refused.Status == http.StatusUnauthorized:
		if signedIn {
			return rewordedError{fmt.Sprintf("%s does not accept this token, which has expired or was revoked: run warpboard login %s", server, server), err}
		}
		return rewordedError{fmt.Sprintf("you are not signed in to %s: run warpboard login %s", server, server), err}
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET):
		return rewordedError{fmt.Sprintf("the connection to %s was lost: try again", server), err}
	case errors.As(err, &away):
		return rewordedError{fmt.Sprintf("%s does not answer: %s", server, explainUnreachable(away)), err}
	case errors.As(err, &file) && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)):
		return rewordedError{fmt.Sprintf("%s: %v", file.Path, file.Err), err}
	}
	return err
}

// explainUnreachable explains why a site could not be reached.
func explainUnreachable(away *url.Error) string {
	var dns *net.DNSError
	var dial *net.OpError
	switch {
	case errors.As(away, &dns):
		return fmt.Sprintf("there is no host %q", dns.Name)
	case away.Timeout():
		return "it took too long"
	case errors.As(away, &dial):
		_, text, _ := strings.Cut(dial.Err.Error(), ": ")
		return cmp.Or(text, dial.Err.Error())
	}
	return away.Err.Error()
}

// NewFlagError explains an error about a flag.
func NewFlagError(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	if errors.As(err, &value) {
		err = fmt.Errorf("--%s: %w", value.GetFlag().Name, InvalidFlagValue(value.GetFlag(), value.GetValue(), value.Unwrap()))
	}
	return fmt.Errorf("%w (%s --help prints its flags)", err, cmd.CommandPath())
}

// InvalidFlagValue explains why a flag does not accept a value; err is the error of the flag.
func InvalidFlagValue(f *pflag.Flag, value string, err error) error {
	kind := map[string]string{"int": "a whole number", "int64": "a whole number", "bool": "true or false", "duration": "a time like 30s"}[f.Value.Type()]
	if kind == "" {
		return err
	}
	return fmt.Errorf("%q is not %s", value, kind)
}
