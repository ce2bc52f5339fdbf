package charts

import "warpboard/evaluator/ncu"

// PinView is the profile of another run, which a profile page uses as a baseline.
type PinView struct {
	Name   string // name of the run: "1st, ada"
	Report *ncu.Report
	Note   string // reason for having no report, a sentence
}

// PinChoice is a run whose profile can be shown beside the current one, as the baseline of the comparison.
type PinChoice struct {
	RunID int64
	Name  string
}

// pinnedKernel returns the kernel of the baseline to compare with the selected kernel: one with the same name,
// otherwise the longest.
func (vm ProfileView) pinnedKernel() *ncu.Kernel {
	k := vm.Kernel()
	if vm.PinnedProfile == nil || vm.PinnedProfile.Report == nil || k == nil {
		return nil
	}
	for i := range vm.PinnedProfile.Report.Kernels {
		if other := &vm.PinnedProfile.Report.Kernels[i]; other.ShortName == k.ShortName {
			return other
		}
	}
	return longestKernel(vm.PinnedProfile.Report)
}

// withBaselineTicks returns the bars of the selected kernel, each with a tick at the baseline's value. of returns the
// bars of a kernel.
func (vm ProfileView) withBaselineTicks(of func(ncu.DerivedViews) []chartBar, v ncu.DerivedViews) []chartBar {
	list, other := of(v), vm.pinnedKernel()
	if other == nil {
		return list
	}
	was := map[string]chartBar{}
	for _, b := range of(ncu.ViewsOf(other)) {
		was[b.label] = b
	}
	for i, b := range list {
		value, ok := b.fact.Value.BaseValue()
		before, both := was[b.label].fact.Value.BaseValue()
		if !ok || !both {
			continue
		}
		list[i].pinnedText = MetricText(was[b.label].fact.Value)
		if value > 0 && b.lengthFraction > 0 {
			list[i].pinnedFraction = clamp(before/value*b.lengthFraction, 0, 1)
		} else if b.fact.Value.UnitName == "%" {
			list[i].pinnedFraction = clamp(before/100, 0, 1)
		}
	}
	return list
}
