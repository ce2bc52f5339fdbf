package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"warpboard/clients/go"
	"warpboard/internal/app/cli/console"
	"warpboard/tasks"
)

const evaluateHelp = `Compile, check, and time one kernel without a task, or compare it with a correct reference.

FILE is a kernel, or a .json file with the whole request of POST /evaluate or /compare. Further files lie beside it, as
the modules that it imports, or the headers that it includes. A .cu file has the type cuda and needs --io, a JSON file with its arguments and launch sizes (IOContract; see /api on the site).`

// evaluateOptions has the flags of `warpboard evaluate`.
type evaluateOptions struct {
	kind, ioContractFile, reference, referenceKind, device, className string
	trials                                                            int
	tolerance                                                         map[string]float64 // only the keys set by flags
	// requiredPackages are Python packages that the worker must have.
	requiredPackages []string
	filesBeside      []string // more files of the kernel
}

func evaluateCommand(c *connection) *cobra.Command {
	o := evaluateOptions{tolerance: map[string]float64{}}
	cmd := &cobra.Command{Use: "evaluate FILE...", Short: "check and time a kernel without a task", Long: evaluateHelp, Args: console.AtLeastArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.filesBeside = args[1:]
			if err := o.checkFlags(cmd, args[0]); err != nil {
				return err
			}
			for _, word := range []string{"atol", "rtol"} {
				if n, err := cmd.Flags().GetFloat64(word); err == nil && cmd.Flags().Changed(word) {
					o.tolerance[word] = n
				}
			}
			return c.evaluate(cmd.Context(), o, args[0])
		}}
	f := cmd.Flags()
	f.StringVar(&o.kind, "type", "", "torch, torch_cuda, triton, cuda, or multi_kernel; default: from the file")
	f.StringVar(&o.ioContractFile, "io", "", "JSON file with the kernel's arguments and launch sizes")
	f.StringVar(&o.reference, "reference", "", "file of a correct kernel to compare with")
	f.StringVar(&o.referenceKind, "reference-type", "", "type of the reference; default: from the file")
	f.StringVar(&o.device, "device", "", "device to run on, such as h200 or cpu; default: any, preferably a GPU")
	f.StringVar(&o.className, "class-name", "", "the kernel's class; default: ModelNew or Model")
	f.StringArrayVar(&o.requiredPackages, "require", nil, "Python package that the worker must have, such as 'triton>=3'; once for each")
	f.IntVar(&o.trials, "trials", 100, "number of timed calls")
	f.Float64("atol", 0.01, "absolute tolerance; needs --reference")
	f.Float64("rtol", 0.01, "relative tolerance; needs --reference")
	return cmd
}

// checkFlags refuses flags that would have no effect.
func (o evaluateOptions) checkFlags(cmd *cobra.Command, file string) error {
	for _, name := range []string{"type", "io", "reference", "reference-type", "device", "require", "class-name", "trials", "atol", "rtol"} {
		if cmd.Flags().Changed(name) && filepath.Ext(file) == ".json" {
			return console.NewUsageError("--%s has no effect, because %s is the whole request: write the value there", name, file)
		}
	}
	if len(o.filesBeside) > 0 && filepath.Ext(file) == ".json" {
		return console.NewUsageError("%s has no effect, because %s is the whole request: write the file there, in source_files", o.filesBeside[0], file)
	}
	for _, name := range []string{"reference-type", "atol", "rtol"} {
		if cmd.Flags().Changed(name) && o.reference == "" {
			return console.NewUsageError("--%s needs --reference FILE", name)
		}
	}
	return nil
}

func (c *connection) evaluate(ctx context.Context, o evaluateOptions, file string) error {
	request, err := o.request(file)
	if err != nil {
		return err
	}
	site, err := c.site()
	if err != nil {
		return err
	}
	progress := c.newScreen()
	e, err := evaluateAndWait(ctx, site, request, func(e *client.Evaluation) {
		state := e.State
		if e.WaitsFor != "" {
			state = "waits for " + e.WaitsFor
		}
		progress.SetStatus(e.Device + " " + state)
	})
	progress.SetStatus("")
	if errors.Is(err, context.Canceled) && e != nil {
		return console.ReplaceMessage(err, "stopped waiting. The evaluation continues: %s", e.URL)
	}
	if err != nil {
		return err
	}
	address := e.URL
	if c.chosenSite.Token != "" { // a caller with an account can open the page of the evaluation
		address = evaluationPage(site, e.ID)
	}
	err = c.printAnswer(e, nil, func(s *console.Screen) {
		s.PrintLine("evaluation %s  %s\n%s", e.ID, address, evaluationSummary(e))
	})
	if ok, why := checkKernelPassed(e); err == nil && !ok {
		err = console.NewFailedError("%s", why)
	}
	return err
}

// evaluationPage returns the address of an evaluation's page.
func evaluationPage(site *client.Client, id string) string {
	return site.BaseURL() + "/evaluations/" + url.PathEscape(id)
}

// evaluateAndWait sends a request and waits until it has ended. It calls tell with the current state from time to time.
func evaluateAndWait(
	ctx context.Context, site *client.Client, request any, tell func(*client.Evaluation),
) (e *client.Evaluation, err error) {
	e, err = site.Evaluate(ctx, request)
	for err == nil && !e.Ended {
		tell(e)
		var next *client.Evaluation
		if next, err = site.Evaluation(ctx, e.ID, pollIntervalTerminal); err == nil {
			e = next
		}
	}
	return e, err // e is the last known state
}

// request returns the body of POST /evaluate, or of /compare with a reference.
func (o evaluateOptions) request(file string) (map[string]any, error) {
	if filepath.Ext(file) == ".json" {
		// Sent unchanged; the site checks it.
		var whole map[string]any
		return whole, readJSON(file, &whole)
	}
	kernel, err := kernelCodeFromFile(file, o.kind, o.ioContractFile, o.filesBeside...)
	if err != nil {
		return nil, err
	}
	if o.className != "" {
		kernel["metadata"] = map[string]any{"class_name": o.className}
	}
	request := map[string]any{"kernel": kernel, "num_trials": o.trials}
	if o.device != "" {
		request["gpu_type"] = o.device
	}
	if len(o.requiredPackages) > 0 {
		request["require"] = o.requiredPackages
	}
	if o.reference != "" {
		reference, err := kernelCodeFromFile(o.reference, o.referenceKind, o.ioContractFile)
		if err != nil {
			return nil, err
		}
		delete(request, "kernel")
		request["ref_kernel"], request["custom_kernel"] = reference, kernel
		for word, n := range o.tolerance {
			request[word] = n
		}
	}
	return request, nil
}

// kernelCodeFromFile returns a KernelCode of the API, with the files beside the first.
func kernelCodeFromFile(file, kind, io string, beside ...string) (map[string]any, error) {
	read, err := tasks.ReadSubmission(append([]string{file}, beside...), readText)
	if err != nil {
		return nil, err
	}
	source := string(read.Source)
	code := map[string]any{"source_code": source, "kernel_type": cmp.Or(kind, guessKernelType(file, source))}
	if files := read.FileTexts(); files != nil {
		code["source_files"] = files
	}
	if io != "" {
		var contract any
		if err := readJSON(io, &contract); err != nil {
			return nil, err
		}
		code["io"] = contract
	}
	return code, nil
}

// guessKernelType guesses a kernel's type, as a default. A Python file with inline CUDA (torch_cuda) needs --type.
func guessKernelType(file, source string) string {
	switch {
	case filepath.Ext(file) != ".py":
		return "cuda"
	case strings.Contains(source, "triton.jit"):
		return "triton"
	}
	return "torch"
}

func readJSON(file string, into any) error {
	text, err := readText(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return console.NewUsageError("%s is not the expected JSON: %w", file, err)
	}
	return nil
}

// readText reads a file, and refuses one that is not UTF-8, because JSON would change its text.
func readText(file string) ([]byte, error) {
	text, err := readRegularFile(file, maxRequestBytes)
	if err != nil {
		return nil, fmt.Errorf("reading the file: %w", err)
	}
	if err := tasks.CheckText(file, text); err != nil {
		return nil, console.NewUsageError("%w", err)
	}
	return text, nil
}

// printedResult has the part of an evaluation's result that commands use. Times are in milliseconds. Unknown keys are
// ignored, so that newer sites can add some.
type printedResult struct {
	Result struct {
		Compiled    bool     `json:"compiled"`
		Correctness *bool    `json:"correctness"`
		Speedup     *float64 `json:"speedup"`
		Vacuous     string   `json:"vacuous_reason"`
		Remarks     []string `json:"remarks"`
		Stats       *struct {
			Mean float64 `json:"mean"`
			Std  float64 `json:"std"`
		} `json:"runtime_stats"`
		CompilationError string `json:"compilation_error"`
		ValidationError  string `json:"validation_error"`
	} `json:"kernel_exec_result"`
}

func decodeResult(e *client.Evaluation) (f printedResult) {
	if e.Result != nil {
		_ = json.Unmarshal(*e.Result, &f) // unreadable parts count as missing
	}
	return f
}

// checkKernelPassed reports whether a kernel compiled and is correct, and otherwise why not.
func checkKernelPassed(e *client.Evaluation) (ok bool, why string) {
	r := decodeResult(e).Result
	switch {
	case e.State != "completed":
		return false, cmp.Or(e.Failure, "the evaluation ended as "+e.State)
	case !r.Compiled:
		return false, cmp.Or(r.CompilationError, "it does not compile")
	case r.Correctness != nil && !*r.Correctness:
		return false, cmp.Or(r.ValidationError, "its output is wrong")
	}
	return true, ""
}

// evaluationSummary summarizes an evaluation in a line.
func evaluationSummary(e *client.Evaluation) string {
	if ok, _ := checkKernelPassed(e); !ok {
		return e.State + " on " + e.Device + ": it did not pass"
	}
	line, r := e.State+" on "+e.Device, decodeResult(e).Result
	if r.Stats != nil {
		line += fmt.Sprintf(": %v ± %v", console.Nanoseconds(r.Stats.Mean*1e6), console.Nanoseconds(r.Stats.Std*1e6))
	}
	if r.Speedup != nil {
		line += fmt.Sprintf(", %.2f times as fast as the reference", *r.Speedup)
	}
	if r.Vacuous != "" {
		line += "\nThe check says nothing: " + r.Vacuous
	}
	return strings.Join(append([]string{line}, r.Remarks...), "\n")
}
