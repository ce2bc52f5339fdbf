package app

import (
	"cmp"
	"slices"

	"warpboard/evaluator/attacks"
	"warpboard/evaluator/device"
	"warpboard/evaluator/harness"
	"warpboard/tasks"
	"warpboard/views"
)

// attackCorpus returns the known attacks with the latest result on each device, for the page about trust.
func attackCorpus() ([]views.Attack, error) {
	all, err := attacks.AllAttacks()
	if err != nil {
		return nil, err
	}
	tables, err := attacks.Results()
	if err != nil {
		return nil, err
	}
	families := attacks.Families()
	slices.SortStableFunc(all, func(a, b attacks.Attack) int {
		return cmp.Compare(slices.Index(families, a.Family), slices.Index(families, b.Family))
	})
	corpus := make([]views.Attack, len(all))
	for i, a := range all {
		corpus[i] = views.Attack{
			Name: a.Name, Title: a.Title, Family: a.Family, Description: a.Description, Platform: attackTargetText(a),
			NeedsGPU: a.Device == "gpu", ExpectedVerdict: string(a.ExpectedVerdict), Results: attackResults(a, tables),
		}
	}
	return corpus, nil
}

// attackResults returns the result of an attack in each table. An attack for the CPU and one for GPUs may have the same
// name.
func attackResults(a attacks.Attack, tables []attacks.DeviceResults) (results []views.AttackResult) {
	for _, table := range tables {
		for _, r := range table.Results {
			if r.Attack == a.Name && (a.Device == "cpu") == (table.Device == device.CPU) {
				results = append(results, views.AttackResult{
					Harness: r.HarnessDigest, IsFromOtherVersion: r.HarnessDigest != harness.Digest(), Device: table.Device,
					Verdict: string(r.Verdict), EndedAsExpected: r.EndedAsExpected, ClaimedNS: r.ClaimedTimeNS, ShownNS: r.ShownTimeNS, MeasuredAt: r.TestedAt})
			}
		}
	}
	return results
}

// attackTargetText describes an attack's language and device: "CUDA C++", "Python on the CPU".
func attackTargetText(a attacks.Attack) string {
	name := map[tasks.Lang]string{tasks.LangPython: "Python", tasks.LangCPP: "C++", tasks.LangCUDA: "CUDA C++"}[a.Lang]
	if a.Device == "cpu" {
		return name + " on the CPU"
	}
	if a.Lang == tasks.LangPython {
		return name + " on a GPU"
	}
	return name
}
