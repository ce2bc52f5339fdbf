package profile

import (
	"slices"
	"strings"
)

// Mix is what the kernel executed.
type Mix struct {
	Pipes   []Fact   `json:"pipes"`   // percent of each pipe's peak while active, busiest first
	Opcodes []Opcode `json:"opcodes"` // most executed first; empty without a source page
	Total   Fact     `json:"total"`   // warp instructions executed
}

// Opcode is one kind of instruction: "LDG", "FFMA".
type Opcode struct {
	Name     string  `json:"name"`
	Executed float64 `json:"executed"` // warp instructions
	Share    float64 `json:"share"`    // of all of the source page, 0 to 1
}

const (
	pipePrefix = "sm__inst_executed_pipe_"
	pipeSuffix = ".avg.pct_of_peak_sustained_active"
	executed   = "Instructions Executed"
)

// MixOf derives a kernel's instruction mix: pipes from the raw page, opcodes from the source page.
func MixOf(k *Kernel) Mix {
	m := Mix{Total: k.fact("Instructions executed", "smsp__inst_executed.sum")}
	for _, name := range k.MetricNames() {
		pipe, ok := strings.CutPrefix(name, pipePrefix)
		pipe, ends := strings.CutSuffix(pipe, pipeSuffix)
		if v := k.Metric(name); ok && ends && v.Measured {
			m.Pipes = append(m.Pipes, Fact{Label: pipeLabel(pipe), From: name, Value: v})
		}
	}
	slices.SortStableFunc(m.Pipes, func(a, b Fact) int { return order(b.Value.Value, a.Value.Value) })
	if k.Source != nil {
		m.Opcodes = opcodes(k.Source)
	}
	return m
}

func opcodes(s *Source) []Opcode {
	column := s.Column(executed)
	if column < 0 {
		return nil
	}
	sums, total := map[string]float64{}, 0.0
	for _, l := range s.Lines {
		if column >= len(l.Cells) {
			continue
		}
		if v, ok := number(l.Cells[column]); ok {
			sums[OpcodeOf(l.SASS)] += v
			total += v
		}
	}
	out := make([]Opcode, 0, len(sums))
	for name, v := range sums {
		if v > 0 {
			out = append(out, Opcode{Name: name, Executed: v, Share: v / total})
		}
	}
	slices.SortFunc(out, func(a, b Opcode) int {
		if c := order(b.Executed, a.Executed); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// OpcodeOf returns an instruction's opcode without predicate and modifiers: "@!P0 LDG.E R2, …" is
// "LDG".
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
	if pipe == "uniform" {
		return "Uniform"
	}
	return strings.ToUpper(strings.ReplaceAll(strings.ReplaceAll(pipe, "_type_", " "), "_", " "))
}
