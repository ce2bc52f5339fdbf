package tasks

import (
	"fmt"
	"time"
)

// Proposal is one task that an upload would make.
type Proposal struct {
	Folder   string    // inside the upload
	Name     string    // of the task
	Bundle   *Bundle   // nil if Err is set
	Deadline time.Time // UTC; zero if nothing says one
	Assumed  bool      // the upload says no deadline: it is a year from now
	GPUs     []string  // from the problem set, else from the task; empty if neither says
	Notes    []string  // what was assumed
	Err      error     // why the task cannot be made
}

// Proposals gives the tasks of the upload: those of its problem sets or, where it has none, of its
// task folders, or the one of its reference file. Deadlines that a set leaves out are counted from
// now. A task that cannot be made says so itself; if none can, that is the error, and of Problems.
func (u *Upload) Proposals(now time.Time) ([]Proposal, error) {
	list, err := u.proposals(now)
	if err != nil {
		return nil, err
	}
	var problems Problems
	for _, p := range list {
		if p.Err == nil {
			return list, nil
		}
		for _, problem := range ProblemsIn(p.Err) {
			problems.add(problem)
		}
		if ProblemsIn(p.Err) == nil {
			problems.add(Problem{File: p.Folder, Message: p.Err.Error()})
		}
	}
	if len(problems) == 0 {
		problems.add(Problem{Message: fmt.Sprintf("there is no %s in what was uploaded", TaskFile)})
	}
	return nil, problems
}

func (u *Upload) proposals(now time.Time) ([]Proposal, error) {
	if u.reference != "" {
		return []Proposal{u.referenceProposal()}, nil
	}
	var list []Proposal
	if u.only == "" {
		sets, err := u.ProblemSets(now)
		if err != nil {
			return nil, err
		}
		for _, set := range sets {
			list = append(list, set.Problems...)
		}
		if len(sets) > 0 {
			return list, nil
		}
	}
	for _, folder := range u.Folders() {
		p := Proposal{Folder: folder, Name: u.nameOf(folder)}
		if p.Bundle, p.Err = u.Bundle(folder); p.Err == nil {
			p.GPUs = p.Bundle.Definition.GPUs
		}
		list = append(list, p)
	}
	return list, nil
}

func (u *Upload) referenceProposal() Proposal {
	p := Proposal{Folder: ".", Name: stem(u.reference)}
	data, err := u.tree.read(u.reference)
	if err != nil {
		p.Err = err
		return p
	}
	p.Bundle, p.Err = FromReference(u.reference, data, nil)
	return p
}
