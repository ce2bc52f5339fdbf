package ncu

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Limits for a parsed report: slightly more than workers write for 16 kernels with the maximum number of instruction
// counters. In memory a text of only "{}," takes five hundred times its size.
const (
	maxReportJSON    = 15 << 20 // bytes
	maxReportObjects = 1 << 17
	maxCommas        = 3 << 19
	maxTextKernels   = 256
)

// ErrUnreadable means that a text is not a parsed report, or is larger than workers write.
var ErrUnreadable = errors.New("the parsed report cannot be read")

func unreadableError(why string, about ...any) error {
	return fmt.Errorf("%w: %w", ErrUnreadable, fmt.Errorf(why, about...))
}

// DecodeReport decodes a parsed report, and returns the size of its text.
func DecodeReport(in io.Reader) (*Report, int64, error) {
	var text bytes.Buffer
	size, err := text.ReadFrom(io.LimitReader(in, maxReportJSON+1))
	switch {
	case err != nil:
		return nil, 0, unreadableError("%w", err)
	case size > maxReportJSON:
		return nil, 0, unreadableError("it has more than %d MiB", maxReportJSON>>20)
	case bytes.Count(text.Bytes(), []byte("{")) > maxReportObjects, bytes.Count(text.Bytes(), []byte(",")) > maxCommas:
		return nil, 0, unreadableError("it has more than %d objects or %d values", maxReportObjects, maxCommas)
	}
	report := &Report{}
	if err := report.decodeJSON(json.NewDecoder(&text)); err != nil {
		return nil, 0, unreadableError("%w", err)
	}
	return report, size, nil
}

// decodeJSON decodes the object of a report. It decodes the kernels one by one, so that it can stop at maxTextKernels:
// in memory an empty kernel, "{}", takes five hundred times the size of its text, more than any other value.
func (r *Report) decodeJSON(in *json.Decoder) error {
	if begin, err := in.Token(); err != nil || begin != json.Delim('{') {
		return errors.Join(err, errors.New("it is no object"))
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return err
		}
		var skipped json.RawMessage
		switch key {
		case "version":
			err = in.Decode(&r.Version)
		case "warnings":
			err = in.Decode(&r.Warnings)
		case "kernels":
			err = r.decodeKernels(in)
		default:
			err = in.Decode(&skipped)
		}
		if err != nil {
			return err
		}
	}
	_, err := in.Token()
	return err
}

func (r *Report) decodeKernels(in *json.Decoder) error {
	if begin, err := in.Token(); err != nil || begin != json.Delim('[') {
		if begin != nil {
			err = errors.New("its kernels are no list")
		}
		return err // the value null means that there are no kernels
	}
	for in.More() {
		if len(r.Kernels) == maxTextKernels {
			return fmt.Errorf("it has more than %d kernels", maxTextKernels)
		}
		var kernel Kernel
		if err := in.Decode(&kernel); err != nil {
			return err
		}
		r.Kernels = append(r.Kernels, kernel)
	}
	_, err := in.Token()
	return err
}
