package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/work"
)

// hostile is a harmful submission, with the expected state and message at the end of its run.
type hostile struct {
	name, source string
	state        work.RunState // "" if it may also pass
	reason       string        // part of the error message
	output       string        // part of the output of the last stage
}

func hostileKernels(s *site) []hostile {
	return []hostile{
		// This kernel reaches the limit of processes at once, and again after 4 s until the time limit of 10 s.
		{"forks without end", kernel(`while (fork() >= 0) {} sleep(4); for (;;) fork();`), work.StateFailed, "limit",
			""},
		{"eats memory", kernel(`for (;;) memset(malloc(1 << 26), 1, 1 << 26);`), work.StateFailed, "limit", ""},
		{"writes one large file", kernel(
			`char block[1 << 16] = {}; for (int fd = open("/tmp/f", O_CREAT | O_WRONLY, 0600);;) if (write(fd, block, sizeof block) < 0) exit(4);`),
			work.StateFailed, "file size limit", ""},
		{"fills the disk", kernel(`static char block[1 << 22]; for (int i = 0;; ++i) {
            char name[32];
            snprintf(name, sizeof name, "/dev/shm/%d", i);
            if (write(open(name, O_CREAT | O_WRONLY, 0600), block, sizeof block) != sizeof block) tells(true);
        }`), work.StateFailed, "exit code 4", "No space left"},
		{"prints 1 GB",
			kernel(`static char block[1 << 20]; for (int i = 0; i < 1024; ++i) fwrite(block, 1, sizeof block, stdout);`), work.StateFailed, "output limit", "bytes are cut here"},
		{"prints no UTF-8", kernel(`puts("\xff\xfe caf\xe9");`), work.StateDone, "", "caf\ufffd"},
		{"leaves a daemon", kernel(`if (fork() == 0) { setsid(); signal(SIGTERM, SIG_IGN); for (;;) pause(); }`), "",
			"", ""},
		{"looks for the server, the database and other submissions", kernel(fmt.Sprintf(`bool all = socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM;
        all = all && open(%q, O_RDONLY) < 0 && errno == ENOENT;
        tells(all && opendir(%q) == nullptr);`, filepath.Join(s.data, "warpboard.db"), filepath.Join(s.data, "objects"))), work.StateFailed, "exit code 4", "No such file"},
		{"leaves links as outputs", kernel(
			`symlink("/etc/shadow", "/out/eval.out"); link("/in/eval.out", "/out/more"); abort();`), work.StateFailed,
			"SIGABRT", ""},
		{"reports 100 KiB", kernel(`for (int fd = 3; fd < 64; ++fd) {
            static char line[100 << 10];
            memset(line, 'x', sizeof line);
            memcpy(line, "test.0.message: ", 16);
            line[sizeof line - 1] = '\n';
            if (fcntl(fd, F_GETFL) >= 0 && write(fd, line, sizeof line) < 0) perror("write");
        }`), work.StateFailed, "", ""},
		{"includes /etc/passwd", "#include \"/etc/passwd\"\n" + kernel(""), work.StateFailed,
			"/etc/passwd: No such file", ""},
		{"includes its process", "#include \"/proc/self/environ\"\n" + kernel(""), work.StateFailed,
			"/proc/self/environ", ""},
	}
}

// TestHostileKernels submits kernels that try to harm the server. Each run must end with a reason and leave no process
// or file, and runs of other people in between must pass. Tests of package evaluator cover kernels that harm only
// themselves.
func TestHostileKernels(t *testing.T) {
	tier.Needs(t, tier.Faults)
	s := startTaskSite(t)
	mallory, ada := s.person(t, "Mallory", accounts.RoleUser), s.person(t, "Ada", accounts.RoleUser)
	for i, h := range hostileKernels(s) {
		t.Run(h.name, func(t *testing.T) {
			mallory, ada := mallory.in(t), ada.in(t)
			run := mallory.ended(mallory.submit(job.ModeTest, h.source))
			h.check(t, run)
			s.leavesNothing(t)
			if i%4 == 0 {
				ada.passes(job.ModeTest)
			}
		})
	}
}

// in returns the same person with the t of a subtest.
func (p person) in(t *testing.T) person {
	p.t = t
	return p
}

func (h hostile) check(t *testing.T, run client.Run) {
	t.Helper()
	if h.state != "" && run.State != string(h.state) {
		t.Errorf("it is %s: %+v", run.State, run.Failure)
	}
	if f := run.Failure; run.State == string(work.StateFailed) &&
		(f == nil || f.IsInfrastructureError || f.Reason == "" || !strings.Contains(f.Reason, h.reason)) {
		t.Errorf("the failure is %+v, want %q", f, h.reason)
	}
	if run.Attempts != 1 {
		t.Errorf("it took %d attempts", run.Attempts)
	}
	last := run.Stages[len(run.Stages)-1]
	output := last.Stdout + last.Stderr
	if !strings.Contains(output, h.output) {
		t.Errorf("it printed %.300q, want %q", output, h.output)
	}
	if len(output) > 256<<10 || !utf8.ValidString(output) {
		t.Errorf("%d bytes of output were kept; UTF-8: %v", len(output), utf8.ValidString(output))
	}
	for _, secret := range []string{"root:x:", "WARPBOARD_", "PATH="} {
		if strings.Contains(output, secret) || run.Failure != nil && strings.Contains(run.Failure.Reason, secret) {
			t.Errorf("%q got out: %.300q", secret, output)
		}
	}
}
