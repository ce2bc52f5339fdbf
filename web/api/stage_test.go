package api_test

import (
	"errors"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
)

func kernel(change ...func(*client.NewSubmission)) client.NewSubmission {
	in := client.NewSubmission{
		Task: "vectoradd", Devices: []string{"CPU"}, Mode: job.ModeRanked, FileName: "kernel.cpp", Source: "int x;\n",
	}
	for _, c := range change {
		c(&in)
	}
	return in
}

func isProblem(err error, code string) bool {
	var p *client.Problem
	return errors.As(err, &p) && p.Code == code
}
