package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"

	"fmt"
	"io"
	"slices"
	"time"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// verifyTask checks a task folder and runs the solutions that it brings, each as a ranked run.
func verifyTask(ctx context.Context, env environment, args []string) error {
	cfg := &Config{}
	fs := newFlags("verify-task", cfg, env.stderr)
	workerFlags(fs, cfg)
	on := fs.String("device", "", "device to run on; default: the first attached one that the task allows")
	fs.Usage = func() { usage(fs, "verify-task FOLDER", env.stderr) }
	folder, err := parseWithFile(fs, args)
	if err != nil {
		return err
	}
	cfg.fillIn()
	upload, root, dir, err := tasks.OpenLocal(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	bundle, err := upload.Bundle(dir)
	if err != nil {
		return err
	}
	describe(env, bundle)
	solutions, err := tasks.Solutions(root.FS(), dir)
	if err != nil {
		return err
	}
	if len(solutions) == 0 {
		fmt.Fprintln(env.stdout, "no solutions/correct or solutions/wrong: nothing was run")
		return nil
	}
	v, err := newVerifier(ctx, cfg, bundle, *on)
	if err != nil {
		return err
	}
	return v.runAll(ctx, env, solutions)
}

func describe(env environment, b *tasks.Bundle) {
	d := b.Definition
	fmt.Fprintf(env.stdout, "%s: %s, %d tests, %d benchmarks, ranked by %s\n", b.Name, d.Lang, len(d.Tests), len(d.Benchmarks), d.RankingBy)
	for _, w := range b.Warnings {
		fmt.Fprintln(env.stdout, "warning:", w)
	}
}

// verifier runs solutions of one task on one slot of this machine.
type verifier struct {
	bundle *tasks.Bundle
	slot   device.Slot
	worker *evaluator.Worker
}

func newVerifier(ctx context.Context, cfg *Config, bundle *tasks.Bundle, want string) (*verifier, error) {
	config, _, err := machine(ctx, cfg, 1, cfg.logger(io.Discard))
	if err != nil {
		return nil, err
	}
	slot, err := chooseSlot(config.Slots, bundle.Definition, want)
	if err != nil {
		return nil, err
	}
	config.Name, config.Conn = "verify-task", evaluator.Nobody{}
	return &verifier{bundle: bundle, slot: slot, worker: evaluator.NewWorker(config)}, nil
}

func chooseSlot(slots []device.Slot, def tasks.Definition, want string) (device.Slot, error) {
	for _, s := range slots {
		suits := s.Device == want
		if want == "" {
			suits = (s.Device == "CPU") == (def.Lang == tasks.LangCPP || slices.Contains(def.GPUs, "CPU"))
		}
		if suits {
			return s, nil
		}
	}
	if want != "" {
		return device.Slot{}, fmt.Errorf("there is no device %s on this machine", want)
	}
	return device.Slot{}, errors.New("no device of this machine suits the task: it needs a GPU")
}

// runAll runs every solution and fails when one ended otherwise than its folder says.
func (v *verifier) runAll(ctx context.Context, env environment, solutions []tasks.Solution) error {
	surprises := 0
	for _, s := range solutions {
		result, err := v.run(ctx, s)
		if err != nil {
			return err
		}
		passed := result.Outcome == job.OutcomeDone
		verdict := "as expected"
		if passed != s.Correct {
			verdict, surprises = "NOT AS EXPECTED", surprises+1
		}
		fmt.Fprintf(env.stdout, "%-28s %-7s %s%s\n", s.Name, result.Outcome, verdict, why(result))
	}
	if surprises > 0 {
		return fmt.Errorf("%d of %d solutions did not end as expected", surprises, len(solutions))
	}
	return nil
}

func why(r job.Result) string {
	switch {
	case r.ScoreNS != nil:
		return fmt.Sprintf("  score %v", ns(*r.ScoreNS))
	case r.Failure != nil:
		return "  " + r.Failure.Reason
	}
	return ""
}

func (v *verifier) run(ctx context.Context, s tasks.Solution) (job.Result, error) {
	sources, err := v.bundle.Resolve(s.Source)
	if err != nil {
		return job.Result{}, err
	}
	var seed [8]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return job.Result{}, err
	}
	return v.worker.Evaluate(ctx, job.Job{
		Version: job.Version, AttemptID: rand.Text(), Device: v.slot.Device, Mode: job.ModeRanked,
		TaskKey: v.bundle.Key(), Task: v.bundle.Definition, Sources: sources,
		SecretSeed: binary.LittleEndian.Uint64(seed[:]), Enqueued: time.Now(),
	})
}
