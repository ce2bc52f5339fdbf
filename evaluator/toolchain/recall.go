package toolchain

import "fmt"

// Recall returns what Remember was given for the same text and architecture by the same Python; nil when there is
// nothing.
func (b *Builder) Recall(text, arch string) []byte {
	if b.cfg.Tools.Python == nil {
		return nil
	}
	data, _ := b.store.get(b.recallKey(text, arch))
	return data
}

// Remember keeps what a program compiled, for the next one that has the same text.
func (b *Builder) Remember(text, arch string, data []byte) {
	if b.cfg.Tools.Python == nil {
		return
	}
	if err := b.store.put(b.recallKey(text, arch), data); err != nil {
		b.cfg.Log.Warn("compiled kernels not kept", "err", err)
	}
}

func (b *Builder) recallKey(text, arch string) string {
	python := b.cfg.Tools.Python
	return key("kernels", python.Version, fmt.Sprint(python.Packages), arch, text)
}
