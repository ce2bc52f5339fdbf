package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/evaluator/queue/queuetest"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/fleet"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// service is a service in deploy/compose.yaml.
type service struct {
	Command     []string
	Environment yaml.Node
}

// recipe reads the command lines in deploy/, and replaces their addresses and paths by those of this test.
type recipe struct {
	t       *testing.T
	replace *strings.Replacer
}

func (r recipe) compose(name string) (command, env []string) {
	r.t.Helper()
	var file struct{ Services map[string]service }
	text, err := os.ReadFile("../deploy/compose.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &file)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	s := file.Services[name]
	for _, word := range s.Command {
		command = append(command, r.replace.Replace(word))
	}
	var set map[string]string
	if s.Environment.Kind == yaml.MappingNode && s.Environment.Decode(&set) == nil {
		for key, value := range set {
			env = append(env, key+"="+r.replace.Replace(value))
		}
	}
	return command, env
}

func (r recipe) unitName(name string) (command []string) {
	r.t.Helper()
	text, err := os.ReadFile("../deploy/systemd/" + name)
	if err != nil {
		r.t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/warpboard (.*)$`).FindSubmatch(text)
	if line == nil {
		r.t.Fatalf("%s starts nothing", name)
	}
	return strings.Fields(r.replace.Replace(string(line[1])))
}

// TestTheRecipesEvaluateARun starts a site and a worker with the command lines of deploy/compose.yaml, then with those
// of deploy/systemd/, on PostgreSQL and on a NATS server with deploy/nats.conf. It uses neither containers nor systemd.
func TestTheRecipesEvaluateARun(t *testing.T) {
	nats, siteNATS, seed := queuetest.AskingNode(t, "../deploy/nats.conf")
	database, dir := modelstest.PostgresURL(t), t.TempDir()
	settings := filepath.Join(dir, "warpboard.toml")
	r := recipe{t, strings.NewReplacer(
		"postgres://warpboard:${WARPBOARD_DATABASE_PASSWORD:?}@database/warpboard", database,
		"nats://site:${WARPBOARD_SITE_PASSWORD}@nats:4222", siteNATS,
		"nats://nats:4222", nats, "/etc/warpboard.toml", settings, "/var/lib/", dir+"/", "/artifacts",
		filepath.Join(dir, "artifacts"))}
	tasks := filepath.Join(dir, "tasks")
	if err := os.CopyFS(filepath.Join(tasks, smallTask), os.DirFS("testdata/task")); err != nil {
		t.Fatal(err)
	}
	command, env := r.compose("site")
	env = append(env, "WARPBOARD_NATS_ACCOUNT_SEED="+seed, "WARPBOARD_TASKS="+tasks, "WARPBOARD_TASK_DEVICES=CPU")
	one := r.serve(command, append(env, "WARPBOARD_DATA="+filepath.Join(dir, "one")), database)
	toml := fmt.Sprintf("database-url = %q\nnats-url = %q\nnats-account-seed = %q\n", database, siteNATS, seed)
	if err := os.WriteFile(settings, []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
	two := r.serve(r.unitName("warpboard.service"), nil, database)

	ada, token := one.person(t, "Ada", accounts.RoleUser), joinTokenOf(t, database)
	small := []string{"WARPBOARD_JOIN=" + token, "WARPBOARD_CPU_SLOTS=1", "WARPBOARD_WARM_PYTHON=0",
		"WARPBOARD_RANKED_PROCESSES=2"}
	command, _ = r.compose("worker")
	r.evaluates(ada, two, command, append(small, "WARPBOARD_DATA="+filepath.Join(dir, "worker")))
	r.evaluates(ada, two, r.unitName("warpboard-worker.service"), append(small, "WARPBOARD_NATS_URL="+nats))
}

// serve starts a site at a separate address.
func (r recipe) serve(command, env []string, database string) *site {
	r.t.Helper()
	s := &site{addr: sandboxtest.Addr(r.t), data: r.t.TempDir(), args: []string{"--database-url", database}}
	s.url = "http://" + s.addr
	s.process = startWith(r.t, append(env, "WARPBOARD_ADDR="+s.addr, "WARPBOARD_BASELINES=false"), command...)
	s.answersOnce(r.t)
	return s
}

func (s *site) answersOnce(t *testing.T) {
	t.Helper()
	tier.WaitFor(t, "the server to answer", func() error {
		_, err := client.New(s.url, "").Devices(t.Context())
		return err
	})
}

// evaluates starts a worker, waits until it has evaluated a run of p, and stops it. It reads the run on another site.
func (r recipe) evaluates(p person, elsewhere *site, command, env []string) {
	r.t.Helper()
	worker := startWith(r.t, append(env, "WARPBOARD_FIRST_UID="+strconv.Itoa(sandboxtest.FirstUID(r.t))), command...)
	id := p.submit(job.ModeTest, kernel(""))
	run := person{client.New(elsewhere.url, p.token), r.t, p.token}.ended(id)
	if err := wantState(run, work.StateDone); err != nil {
		r.t.Errorf("%v: %v", command, err)
	}
	worker.stop()
}

func joinTokenOf(t *testing.T, database string) string {
	t.Helper()
	store, err := models.Open(t.Context(), models.Config{Dir: t.TempDir(), DSN: database})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	token, _, err := store.Fleet.CreateJoinToken(context.WithoutCancel(t.Context()),
		accounts.User{Name: "test", Role: accounts.RoleAdmin},
		fleet.NewJoinToken{Name: "recipes", Devices: []string{"CPU"}, MaxWorkers: 2, Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return token
}
