package web

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/dispatch"
	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/evaluator/toolchain"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
)

// object is a JSON object.
type object = map[string]any

// evalSite is a site whose evaluation API someone uses with a token.
type evalSite struct {
	*testSite
	token string
	user  accounts.User
}

// newEvalSite has a CPU that can evaluate, as far as the site knows; no one takes its jobs.
func newEvalSite(t testing.TB, changes ...func(*Config)) *evalSite {
	t.Helper()
	return newEvalSiteOn(t, modelstest.Open(t), changes...)
}

// newEvalSiteOn is the same on a database.
func newEvalSiteOn(t testing.TB, store *models.Store, changes ...func(*Config)) *evalSite {
	t.Helper()
	s := &evalSite{testSite: startSiteAt(t, "127.0.0.1:0", store, changes...)}
	s.user = modelstest.Person(t, s.site.Store, "ada", accounts.RoleUser)
	secret, _, err := s.site.Store.Accounts.CreateToken(context.Background(), s.user.ID, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	s.token = secret
	s.beat()
	return s
}

func (s *evalSite) beat() {
	s.t.Helper()
	modelstest.Heard(s.t, s.site.Store, job.Heartbeat{Worker: "w1", Time: time.Now(), Started: time.Now(),
		Slots: []job.Slot{{Device: "CPU", Machine: job.Machine{Torch: "1.13"}}}})
}

var toolsHere = sync.OnceValue(func() toolchain.Toolchain { return toolchain.Find(context.Background()) })

// newWorkingSite is a site with everything behind it: dispatcher, queue, recorder, and a worker that
// evaluates on this machine's CPU in the real sandbox.
func newWorkingSite(t *testing.T, changes ...func(*Config)) *evalSite {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	q, err := queue.Open(t.Context(), queue.Config{})
	if err != nil {
		t.Fatal(err)
	}
	worker := cpuWorker(t, q, log)
	var loops []func(context.Context) error
	s := newEvalSite(t, append(changes, func(c *Config) {
		d := dispatch.NewDispatcher(c.Store, q, c.Hub, log)
		c.Dispatcher = d
		loops = append(loops, d.Run, dispatch.NewRecorder(c.Store, q, c.Hub, d.Wake, log).Run)
	})...)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, loop := range append(loops, worker.Run) {
		running.Go(func() {
			if err := loop(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("a loop of the site ended: %v", err)
			}
		})
	}
	t.Cleanup(func() { cancel(); running.Wait(); q.Close() })
	s.waitForWorker()
	return s
}

// waitForWorker waits until the worker's self-test has passed.
func (s *evalSite) waitForWorker() {
	s.t.Helper()
	for limit := time.Now().Add(60 * time.Second); time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		workers, err := s.site.Store.Fleet.Workers(context.Background())
		if err != nil {
			s.t.Fatal(err)
		}
		if len(workers) == 1 && len(workers[0].SelfTest) > 0 && workers[0].Refusing == "" {
			return
		}
	}
	s.t.Fatal("the worker does not take jobs")
}

func cpuWorker(t *testing.T, q *queue.Queue, log *slog.Logger) *evaluator.Worker {
	t.Helper()
	conn, err := queue.Dial(t.Context(), queue.WorkerConfig{Queue: q, Name: "w1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	slots, err := device.Detect(t.Context(), device.Options{CPUSlots: 1, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	slots = slices.DeleteFunc(slots, device.Slot.IsGPU)
	box := sandbox.New(sandbox.Config{Root: t.TempDir(), FirstUID: sandboxtest.FirstUID(t), Log: log})
	cache, remove, err := sandboxtest.Objects()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	return evaluator.NewWorker(evaluator.Config{
		Name: "w1", Conn: conn, Sandbox: box, Slots: slots, Tools: toolsHere(), Log: log,
		Builder: toolchain.NewBuilder(toolchain.Config{Tools: toolsHere(), Runner: box, Cache: cache, Log: log}),
	})
}

// send asks with the token; body is JSON as text, or a value to be written as JSON.
func (s *evalSite) send(ctx context.Context, method, path string, body any, headers ...string) (*http.Response, error) {
	s.t.Helper()
	text, ok := body.(string)
	if !ok && body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			s.t.Fatal(err)
		}
		text = string(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader([]byte(text)))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.token)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
	}
	return (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
}

// ask is send for requests that must be answered; it returns the answer's JSON too.
func (s *evalSite) ask(method, path string, body any, headers ...string) (*http.Response, object) {
	s.t.Helper()
	resp, err := s.send(context.Background(), method, path, body, headers...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	var answer object
	decodeBody(s.t, resp, &answer)
	return resp, answer
}

// torchModel is a KernelCode whose forward has this body.
func torchModel(body string) object {
	return object{"kernel_type": "torch", "source_code": "import ctypes, torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        " + body +
		"\ndef get_inputs():\n    return [torch.rand(1000) + 1]\ndef get_init_inputs():\n    return []\n"}
}
