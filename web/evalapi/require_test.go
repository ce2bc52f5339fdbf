package evalapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/internal/requirement"
	"warpboard/models/modelstest"
	"warpboard/web"
	"warpboard/web/webtest"
)

const lacksDSL = "a worker that has nvidia-cutlass-dsl>=4; CPU's workers have no nvidia-cutlass-dsl"

func TestAWaitWithoutARequiredPackageEndsWithItsName(t *testing.T) {
	s := webtest.NewEvalSite(t, func(c *web.Config) { c.EvalLimits.MaxDeviceWait = time.Second })
	resp, answer := s.Ask("POST", "/evaluate",
		webtest.Object{"kernel": webtest.TorchModel("return x"), "require": []string{"NVIDIA_cutlass_dsl >= 4"}})
	if resp.StatusCode != 500 || answer["error"] != "No GPU available within 1 seconds: it waited for "+lacksDSL {
		t.Errorf("%d %v", resp.StatusCode, answer)
	}
}

func TestAnEvaluationWaitsForAWorkerWithItsPackages(t *testing.T) {
	s := webtest.NewEvalSite(t)
	request := webtest.Object{"kernel": webtest.TorchModel("return x"), "require": []string{"nvidia-cutlass-dsl>=4"}}
	_, made := s.Ask("POST", "/api/v1/evaluations", request)
	if made["waits_for"] != lacksDSL {
		t.Errorf("the answer: %v", made)
	}
	page := "/evaluations/" + made["id"].(string)
	admin := s.Plain(&s.User)
	webtest.WantText(t, admin.Page(page, http.StatusOK), "[data-lack]", "It waits for "+lacksDSL+".")
	webtest.WantText(t, admin.Page("/devices", http.StatusOK), "[data-device=CPU] [data-lack]", "waits for "+lacksDSL)
	ask := func(worker string) string {
		t.Helper()
		attempt, err := s.Cfg.Store.Work.StartNextAttempt(t.Context(), job.WorkRequest{Worker: worker, Device: "CPU"},
			time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if attempt == nil {
			return ""
		}
		return attempt.EvaluationID
	}
	if got := ask("w1"); got != "" {
		t.Errorf("a worker without the package gets %s", got)
	}
	modelstest.RecordHeartbeat(t, s.Cfg.Store, job.Heartbeat{Worker: "w2", Packages: requirement.Packages{"nvidia-cutlass-dsl": "4.2.1"},
		Slots: []job.Slot{{Device: "CPU", Machine: job.Machine{Torch: "2.9"}}, {Device: "L4", Machine: job.Machine{Torch: "2.9"}}}})
	if _, now := s.Ask("GET", "/api/v1/evaluations/"+made["id"].(string), nil); now["waits_for"] != nil {
		t.Errorf("with a worker that has it: %v", now)
	}
	if got := ask("w2"); got != made["id"] {
		t.Errorf("the worker with the package gets %q", got)
	}
	// Without gpu_type, the site chooses a device with a worker that has the packages. The GPU L4 comes before the CPU.
	modelstest.RecordHeartbeat(t, s.Cfg.Store, job.Heartbeat{Worker: "w3", Packages: requirement.Packages{"cupy": "13.6"},
		Slots: []job.Slot{{Device: "T4", Machine: job.Machine{Torch: "2.9"}}, {Device: "T4", Index: 1, Machine: job.Machine{Torch: "2.9"}}}})
	for require, want := range map[string]string{"cupy": "T4", "nvidia-cutlass-dsl": "L4"} {
		request["require"] = []string{require}
		if _, made := s.Ask("POST", "/api/v1/evaluations", request); made["device"] != want {
			t.Errorf("%s: %v", require, made)
		}
	}
}

func TestARequirementThatIsNoneIsRefusedAtItsPath(t *testing.T) {
	s := webtest.NewEvalSite(t)
	for name, tt := range map[string]struct {
		require     any
		field, says string
	}{
		"extras":    {[]string{"torch", "torch[all]"}, "require -> 1", "extras"},
		"a number":  {[]any{"torch", 2}, "require -> 1", "valid string"},
		"no list":   {"torch", "require", "valid list"},
		"too many":  {slices.Repeat([]string{"torch"}, 21), "require", "at most 20"},
		"thousands": {slices.Repeat([]string{"torch"}, 10_000), "require", "at most 20"},
		"long":      {[]string{strings.Repeat("torch>=1,", 1<<17)}, "require -> 0", "at most 200 bytes"},
	} {
		for path, kernels := range map[string]webtest.Object{
			"/evaluate": {"kernel": webtest.TorchModel("return x")},
			"/compare":  {"ref_kernel": webtest.TorchModel("return x"), "custom_kernel": webtest.TorchModel("return x")},
		} {
			kernels["require"] = tt.require
			resp, answer := s.Ask("POST", path, kernels)
			problems, _ := answer["validation_errors"].([]any)
			if resp.StatusCode != 400 || len(problems) != 1 || problems[0].(webtest.Object)["field"] != tt.field ||
				!strings.Contains(problems[0].(webtest.Object)["message"].(string), tt.says) {
				t.Errorf("%s, %s: %d %.400v", name, path, resp.StatusCode, answer)
			}
		}
	}
}
