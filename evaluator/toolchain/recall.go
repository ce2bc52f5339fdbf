package toolchain

import "fmt"

// RecallKey is all that decides what a program's kernels are compiled to, beside the machine's own tools.
type RecallKey struct {
	Owner string // whom it is for; nothing is kept for nobody
	Arch  string // of the GPU
	Text  string // the kernels, and the program that compiles them
}

// Recall returns what Remember was given for the same key; nil when there is nothing.
func (b *Builder) Recall(k RecallKey) []byte {
	if k.Owner == "" || b.cfg.Tools.Python == nil {
		return nil
	}
	data, _ := b.store.get(b.recallKey(k))
	return data
}

// Remember keeps what a program compiled, for the next one of the same owner that has the same kernels.
func (b *Builder) Remember(data []byte, k RecallKey) {
	if k.Owner == "" || b.cfg.Tools.Python == nil {
		return
	}
	if err := b.store.put(b.recallKey(k), data); err != nil {
		b.cfg.Log.Warn("compiled kernels not kept", "err", err)
	}
}

func (b *Builder) recallKey(k RecallKey) string {
	python := b.cfg.Tools.Python
	return key("kernels", k.Owner, python.Version, fmt.Sprint(python.Packages), b.nvccVersion(), processor(), k.Arch, k.Text)
}
