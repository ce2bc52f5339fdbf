package ncu

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// InstructionMix is a kernel's instruction mix.
type InstructionMix struct {
	Pipes   []Fact   `json:"pipes"`   // percent of the active cycles, busiest first; see pipeUtilizations
	Opcodes []Opcode `json:"opcodes"` // most executed first; empty without a source page
	Total   Fact     `json:"total"`   // warp instructions executed
}

// Opcode is one kind of instruction: "LDG", "FFMA".
type Opcode struct {
	Name             string  `json:"name"`
	WarpInstructions float64 `json:"executed"` // warp instructions
	Share            float64 `json:"share"`    // of all instructions of the source page, 0 to 1
}

const (
	pipeBusyPrefix   = "sm__pipe_"
	pipeBusySuffix   = "_cycles_active"
	pipeIssuedPrefix = "sm__inst_executed_pipe_"
	executedColumn   = "Instructions Executed"
)

// InstructionMixOf computes a kernel's instruction mix: pipes from the raw page, opcodes from the source page.
func InstructionMixOf(k *Kernel) InstructionMix {
	m := InstructionMix{Pipes: pipeUtilizations(k), Total: k.metricFact("Instructions executed",
		"smsp__inst_executed.sum")}
	if k.Source != nil {
		m.Opcodes = opcodeCounts(k.Source)
	}
	return m
}

// pipeUtilizations returns the utilization of each pipe. One instruction can occupy a pipe for many cycles (a matrix
// instruction for more than a hundred), so it uses busy cycles if ncu reports them, and otherwise issued instructions.
// It omits "shared", the common entry of other pipes.
func pipeUtilizations(k *Kernel) []Fact {
	found := k.factsByPipe(pipeIssuedPrefix, pctOfActiveSuffix)
	for pipe, fact := range k.factsByPipe(pipeBusyPrefix, pipeBusySuffix+pctOfActiveSuffix) {
		if pipe != "shared" {
			found[pipe] = fact
		}
	}
	_, whole := found["tensor"]
	out := make([]Fact, 0, len(found))
	for _, pipe := range slices.Sorted(maps.Keys(found)) {
		if !whole || !strings.HasPrefix(pipe, "tensor_") {
			out = append(out, found[pipe])
		}
	}
	slices.SortStableFunc(out, func(a, b Fact) int { return cmp.Compare(b.Value.Value, a.Value.Value) })
	return out
}

// factsByPipe returns the measured metrics with a prefix and a suffix, by the pipe's name in between.
func (k *Kernel) factsByPipe(prefix, suffix string) map[string]Fact {
	out := map[string]Fact{}
	for _, name := range k.metricNames(prefix, suffix) {
		pipe, ends := strings.CutSuffix(strings.TrimPrefix(name, prefix), suffix)
		if m := k.Metric(name); ends && m.Measured {
			out[pipe] = Fact{Label: pipeLabel(pipe), Origin: name, Value: m}
		}
	}
	return out
}

func opcodeCounts(s *Source) []Opcode {
	column := s.CounterColumn(executedColumn)
	if column < 0 {
		return nil
	}
	sums, total := map[string]float64{}, 0.0
	for _, l := range s.Lines {
		if column >= len(l.CounterValues) {
			continue
		}
		if v, ok := parseNumber(l.CounterValues[column]); ok {
			sums[OpcodeOf(l.Instruction)] += v
			total += v
		}
	}
	out := make([]Opcode, 0, len(sums))
	for name, v := range sums {
		if v > 0 {
			out = append(out, Opcode{Name: name, WarpInstructions: v, Share: v / total})
		}
	}
	slices.SortFunc(out, func(a, b Opcode) int {
		return cmp.Or(cmp.Compare(b.WarpInstructions, a.WarpInstructions), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// OpcodeOf returns an instruction's opcode without predicate and modifiers: "LDG" for "@!P0 LDG.E R2, …".
func OpcodeOf(sass string) string {
	sass = strings.TrimSpace(sass)
	if strings.HasPrefix(sass, "@") {
		_, sass, _ = strings.Cut(sass, " ")
		sass = strings.TrimSpace(sass)
	}
	op, _, _ := strings.Cut(sass, " ")
	op, _, _ = strings.Cut(op, ".")
	return strings.TrimRight(op, ";")
}

func pipeLabel(pipe string) string {
	if op, ok := strings.CutPrefix(pipe, "tensor_op_"); ok {
		return "Tensor " + strings.ToUpper(op)
	}
	if pipe == "uniform" || pipe == "tensor" {
		return strings.ToUpper(pipe[:1]) + pipe[1:]
	}
	return strings.ToUpper(strings.ReplaceAll(strings.ReplaceAll(pipe, "_type_", " "), "_", " "))
}
