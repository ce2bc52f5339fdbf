package app

import (
	"warpboard/evaluator/attacks"
	"warpboard/tasks"
	"warpboard/views"
)

// attackCorpus is what submissions have tried, for the page on trust.
func attackCorpus() ([]views.Attack, error) {
	all, err := attacks.All()
	if err != nil {
		return nil, err
	}
	corpus := make([]views.Attack, len(all))
	for i, a := range all {
		corpus[i] = views.Attack{Name: a.Name, Title: a.Title, Tries: a.Tries, Where: attackWhere(a), Expected: string(a.Expect)}
	}
	return corpus, nil
}

// attackWhere says what an attack runs as: "CUDA C++", "Python on the CPU".
func attackWhere(a attacks.Attack) string {
	name := map[tasks.Lang]string{tasks.LangPython: "Python", tasks.LangCPP: "C++", tasks.LangCUDA: "CUDA C++"}[a.Lang]
	if a.Device == "cpu" {
		return name + " on the CPU"
	}
	if a.Lang == tasks.LangPython {
		return name + " on a GPU"
	}
	return name
}
