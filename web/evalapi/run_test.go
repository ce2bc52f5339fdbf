package evalapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/clients/go"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// keysOf returns the keys of an object.
func keysOf(o webtest.Object) map[string]bool {
	keys := map[string]bool{}
	for key := range o {
		keys[key] = true
	}
	return keys
}

func set(names string) map[string]bool {
	keys := map[string]bool{}
	for _, name := range strings.Fields(names) {
		keys[name] = true
	}
	return keys
}

const sevenStatistics = "mean std min max median percentile_95 percentile_99"

// forever is the body of a Python function that takes longer than any limit. It sleeps, so that other tests can use the
// CPU.
const forever = "__import__('time').sleep(999)"

// TestEvaluationsAgainstARealWorker tests the whole path of an evaluation: HTTP, queue, worker, sandbox, and PyTorch on
// the CPU.
func TestEvaluationsAgainstARealWorker(t *testing.T) {
	s := newWorkingSite(t)
	is := s.Documented(t)
	quick := func(body webtest.Object) webtest.Object {
		for k, v := range map[string]any{"num_trials": 3, "timeout": 60, "l2_flush": false} {
			if _, given := body[k]; !given {
				body[k] = v
			}
		}
		return body
	}
	t.Run("a right kernel", func(t *testing.T) {
		resp, answer := s.Ask("POST", "/compare",
			quick(webtest.Object{"ref_kernel": webtest.TorchModel("return x * 2"),
				"custom_kernel": webtest.TorchModel("return x + x")}))
		if resp.StatusCode != 200 || resp.Header.Get("X-GPU-Type") != "cpu" {
			t.Fatalf("%s %v", resp.Status, answer)
		}
		wantNoCache(t, resp)
		is("EvaluationAnswer", answer)
		if diff := cmp.Diff(set("job_id status pod_name pod_ip gpu_type kernel_exec_result ref_runtime"),
			keysOf(answer)); diff != "" {
			t.Errorf("keys of the answer:\n%s", diff)
		}
		result := answer["kernel_exec_result"].(webtest.Object)
		stats, ref := result["runtime_stats"].(webtest.Object), answer["ref_runtime"].(webtest.Object)
		for _, statistics := range []webtest.Object{stats, ref} {
			if diff := cmp.Diff(set(sevenStatistics), keysOf(statistics)); diff != "" {
				t.Error(diff)
			}
		}
		if answer["status"] != "success" || result["compiled"] != true || result["correctness"] != true ||
			result["runtime"] != stats["mean"] ||
			ref["mean"].(float64) <= 0 || result["speedup"].(float64) <= 0 ||
			result["profiling_method"] != "wall_clock" {
			t.Errorf("answer: %v", answer)
		}
		for _, absent := range []string{"compilation_error", "validation_error", "profiling_error", "ref_runtime",
			"signal"} {
			if _, there := result[absent]; there {
				t.Errorf("%s is there", absent)
			}
		}
		_, job := s.Ask("GET", "/job/"+answer["job_id"].(string), nil)
		if diff := cmp.Diff(set("job_id status created_at error"), keysOf(job)); diff != "" ||
			job["status"] != "completed" {
			t.Errorf("job: %v %s", job, diff)
		}
	})
	t.Run("a kept reference", func(t *testing.T) {
		large := webtest.TorchModel("return x * 2")
		large["source_code"] = strings.Replace(large["source_code"].(string), "1000", "20_000", 1)
		for i, kernel := range []string{"return x + x", "return 2 * x"} {
			_, answer := s.Ask("POST", "/compare",
				quick(webtest.Object{"ref_kernel": large, "custom_kernel": webtest.TorchModel(kernel),
					"reuse_reference": true}))
			is("EvaluationAnswer", answer)
			result := answer["kernel_exec_result"].(webtest.Object)
			if reused, _ := result["reused_reference"].(webtest.Object); result["correctness"] != true ||
				(reused["seconds_old"] != nil) != (i == 1) || result["runtime"].(float64) <= 0 {
				t.Errorf("%s: %v", kernel, answer)
			}
		}
	})
	t.Run("a wrong kernel", func(t *testing.T) {
		resp, answer := s.Ask("POST", "/",
			quick(webtest.Object{"ref_kernel": webtest.TorchModel("return x * 2"),
				"custom_kernel": webtest.TorchModel("return x * 3")}))
		result := answer["kernel_exec_result"].(webtest.Object)
		if resp.StatusCode != 200 || answer["status"] != "success" || result["correctness"] != false ||
			result["runtime"] != 0.0 || result["runtime_stats"] != nil ||
			!strings.HasPrefix(result["validation_error"].(string),
				"Numerical outputs don't match within tolerance. Trials passed: 0/2. Max difference: ") {
			t.Errorf("answer: %v", answer)
		}
		if ref := answer["ref_runtime"].(webtest.Object); len(ref) != 7 || ref["mean"] != 0.0 {
			t.Errorf("ref_runtime: %v", ref)
		}
	})
	t.Run("a syntax error", func(t *testing.T) {
		resp, answer := s.Ask("POST", "/evaluate", quick(webtest.Object{"kernel": webtest.TorchModel("return (")}))
		is("EvaluationAnswer", answer)
		result := answer["kernel_exec_result"].(webtest.Object)
		if resp.StatusCode != 200 || result["compiled"] != false ||
			!strings.HasPrefix(result["compilation_error"].(string), "Compilation error:\n") {
			t.Errorf("answer: %v", answer)
		}
		if got := result["compilation_error"].(string); !strings.Contains(got, `custom_kernel.py", line 4`) ||
			strings.Contains(got, "evaluate.py") {
			t.Errorf("the error is not the author's alone: %s", got)
		}
	})
	t.Run("an endless loop", func(t *testing.T) {
		// The previous evaluation has left a process that has already imported PyTorch.
		resp, answer := s.Ask("POST", "/evaluate",
			quick(webtest.Object{"kernel": webtest.TorchModel(forever), "timeout": 8}))
		if resp.StatusCode != 500 || answer["error"] != "Job timed out after 8 seconds" ||
			answer["status"] != "error" || answer["compilation_method"] != "cupy" ||
			len(answer["kernel_exec_result"].(webtest.Object)) != 0 ||
			len(answer["ref_runtime"].(webtest.Object)) != 0 ||
			answer["partial_result"].(webtest.Object)["compiled"] != true {
			t.Errorf("%s %v", resp.Status, answer)
		}
		wantNoCache(t, resp)
	})
	t.Run("a crash", func(t *testing.T) {
		_, answer := s.Ask("POST", "/evaluate",
			quick(webtest.Object{"kernel": webtest.TorchModel("ctypes.string_at(0)")}))
		result := answer["kernel_exec_result"].(webtest.Object)
		if result["compiled"] != true || result["signal"] != "SIGSEGV" || answer["ref_runtime"] != nil ||
			!strings.Contains(fmt.Sprint(result["validation_error"]), "killed by SIGSEGV while validating") {
			t.Errorf("answer: %v", answer)
		}
	})
	t.Run("a caller who leaves", func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := s.Send(ctx, "POST", "/evaluate", quick(webtest.Object{"kernel": webtest.TorchModel(forever)}))
			left <- err
		}()
		s.WaitForState(work.EvaluationValidating)
		leave()
		<-left
		s.WaitForState(work.EvaluationCancelled)
	})
	t.Run("submit, follow, read, for the slot is free again",
		func(t *testing.T) { is("Evaluation", followOne(s, t, quick)) })
	t.Run("agents", func(t *testing.T) { agentsUseEveryTool(s, t) })
	t.Run("what is counted", func(t *testing.T) { wantCounts(s, t) })
}

// followOne submits a kernel, reads its event stream to the end, and returns the ended evaluation.
func followOne(s *webtest.EvalSite, t *testing.T, quick func(webtest.Object) webtest.Object) webtest.Object {
	resp, made := s.Ask("POST", "/api/v1/evaluations",
		quick(webtest.Object{"kernel": webtest.TorchModel("return x"), "gpu_type": "CPU"}))
	if resp.StatusCode != 202 || resp.Header.Get("Location") != made["url"] || made["state"] != "submitted" {
		t.Fatalf("%s %v", resp.Status, made)
	}
	path := "/api/v1/evaluations/" + made["id"].(string)
	stream, err := s.Send(t.Context(), "GET", path+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	var states []string
	for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: {")
		if !ok {
			continue
		}
		var e client.Evaluation
		if err := json.Unmarshal([]byte("{"+data), &e); err != nil {
			t.Fatal(err)
		}
		states = append(states, e.State)
		if e.Ended && e.Result == nil {
			t.Error("the last event has no result")
		}
	}
	if len(states) < 2 || states[len(states)-1] != "completed" {
		t.Errorf("states seen: %v", states)
	}
	_, read := s.Ask("GET", path+"?wait=5", nil)
	if read["result"].(webtest.Object)["kernel_exec_result"].(webtest.Object)["correctness"] != true ||
		read["request"].(webtest.Object)["num_trials"] != 3.0 {
		t.Errorf("read: %v", read)
	}
	_, list := s.Ask("GET", "/api/v1/evaluations", nil)
	if first := list["evaluations"].([]any)[0].(webtest.Object); first["id"] != made["id"] {
		t.Errorf("the newest of the list is %v", first)
	}
	return read
}

// wantCounts checks the counters of /stats, which the earlier subtests have increased.
func wantCounts(s *webtest.EvalSite, t *testing.T) {
	_, stats := s.Ask("GET", "/stats", nil)
	if diff := cmp.Diff(set("job_stats compilation_metrics profiling_metrics gpu_utilization throughput timestamp"),
		keysOf(stats)); diff != "" {
		t.Error(diff)
	}
	number := func(part, name string) float64 { v, _ := stats[part].(webtest.Object)[name].(float64); return v }
	for _, positive := range [][2]string{
		{"compilation_metrics", "successful_compilations"}, {"compilation_metrics", "failed_compilations"},
		{"compilation_metrics", "average_time_seconds"},
		{"profiling_metrics", "successful_profilings"}, {"profiling_metrics", "correctness_passed"},
		{"profiling_metrics", "correctness_failed"},
		{"gpu_utilization", "total_gpu_time_seconds"}, {"gpu_utilization", "gpu_releases"},
		{"gpu_utilization", "average_wait_time_seconds"},
		{"throughput", "total_requests"}, {"throughput", "completed_requests"}, {"throughput", "failed_requests"},
		{"throughput", "server_uptime_seconds"}, {"throughput", "requests_per_second"},
	} {
		if number(positive[0], positive[1]) <= 0 {
			t.Errorf("%s.%s is not positive: %v", positive[0], positive[1], stats[positive[0]])
		}
	}
	if reply := stats["profiling_metrics"].(webtest.Object)["graph_capture_success_rate"]; reply != "not used: events" {
		t.Errorf("the rate of captured graphs is %v", reply)
	}
	if byGPU := stats["gpu_utilization"].(webtest.Object)["utilization_by_gpu"].(webtest.Object); byGPU["CPU:0"] == nil {
		t.Errorf("utilization: %v", byGPU)
	}
	resp, err := s.Send(t.Context(), "GET", "/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text := webtest.Body(t, resp)
	for _, line := range []string{`warpboard_evaluations{state="completed"}`,
		`warpboard_evaluation_stage_seconds_count{outcome="passed",stage="validating"}`} {
		if !strings.Contains(text, line) {
			t.Errorf("/metrics lacks %s", line)
		}
	}
	if resp, answer := s.Ask("POST", "/admin/cleanup-jobs", nil); resp.StatusCode != 200 ||
		answer["status"] != "cleanup_completed" {
		t.Errorf("%s %v", resp.Status, answer)
	}
}
