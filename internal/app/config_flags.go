package app

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"warpboard/evaluator/harness"
)

// declareSettings adds all settings of one command to a flag set. A setting of several commands must have the same
// meaning in all, because the settings file and the environment are for all commands. A new secret must be added to
// isSecret; otherwise check-config prints it.
func declareSettings(fs *pflag.FlagSet, command string, cfg *Config) {
	fs.StringVar(&cfg.SettingsFile, settingsFileFlag, "", "TOML file of settings, one per line as flag-name = value; several commands can share it")
	if command == "work" {
		fs.StringVar(&cfg.Data, "data", "data", "directory for this worker's caches and temporary files; each worker needs its own")
	} else {
		fs.StringVar(&cfg.Data, "data", "data", "directory of the database, caches, and artifacts")
		fs.StringVar(&cfg.Artifacts, "artifacts", "", "folder for profiles and traces that all replicas of the site share, or s3://KEY:SECRET@HOST/BUCKET/PREFIX?region=R (s3+http:// without TLS); default: artifacts in --data")
		fs.StringVar(&cfg.DatabaseURL, "database-url", "", "postgres://… to use PostgreSQL instead of the SQLite file in --data")
	}
	fs.StringVar(&cfg.LogLevel, "log-level", "info", "debug, info, warn or error")
	fs.StringVar(&cfg.LogFormat, "log-format", "text", "text or json")
	switch command {
	case "serve":
		serveFlags(fs, cfg)
		signInFlags(fs, &cfg.OAuth)
		workerFlags(fs, cfg)
	case "work":
		workerFlags(fs, cfg)
		fs.StringVar(&cfg.SiteAddress, "site", "", "address of the site, such as https://boards.example.org")
		fs.StringVar(&cfg.NATS.URL, "nats-url", "", "instead of --site: tls://host:port of the site's --nats-listen or NATS cluster; use nats:// without TLS")
		fs.StringVar(&cfg.Worker.JoinToken, "join", "", "join token of the site, instead of a credential: the worker gets a new name, and the site forgets it when it stops; prefer the environment")
		fs.BoolVar(&cfg.Worker.ExitConditions.AfterOneJob, "once", false, "exit after one job")
		fs.DurationVar(&cfg.Worker.ExitConditions.AfterIdle, "idle-exit", 0, "exit after this time without a job, such as 10m; 0: never")
		fs.StringVar(&cfg.Worker.ShutdownNoticeFile, "notice-file", "", "shutdown-notice file: create it before this machine goes away. It contains the time that is left, such as 30s, or a date, such as 2026-01-31T12:00:00Z; empty means --grace")
		fs.StringVar(&cfg.Worker.Secret, "worker-secret", "", "secret of the worker's credential, shown once on the queue page; prefer the environment, which other users cannot see")
	}
}

func workerFlags(fs *pflag.FlagSet, cfg *Config) {
	// Several machines with the same host name need --worker-name, because the name identifies a worker.
	host, _ := os.Hostname()
	w := &cfg.Worker
	fs.StringVar(&w.Name, "worker-name", host, "name of this worker; for a remote worker, the name in its credential")
	fs.IntVar(&w.CPUSlots, "cpu-slots", max(1, runtime.NumCPU()-1), "concurrent evaluations on the CPU device; 0: none")
	fs.StringVar(&w.SandboxMode, "sandbox", "on", "on; or off, to run submitted programs with this user's rights (every page shows a warning)")
	fs.IntVar(&w.FirstUID, "first-uid", 60000, "first unprivileged user ID for sandboxes. Each slot uses up to thirteen IDs, each build one. Every worker on a machine needs its own range")
	fs.IntVar(&w.BuildNice, "build-nice", 19, "nice value of compilers, 1 to 19; lower it on a machine with other work, where compilers at 19 reach their time limit")
	fs.StringVar(&w.ObjectCache, "object-cache", "", "directory of compiled objects, which workers on one machine can share; default: objects in --data")
	fs.Var(&w.IncludeLibraries, "include-libraries", "header libraries that tasks can use in include_dirs, as name=directory,…")
	fs.BoolVar(&w.ProfileRuns, "profile", true, "profile ranked runs with Nsight Compute when the slot is free")
	fs.StringVar(&w.NCUPath, "ncu", "", "path of ncu, such as /opt/nvidia/nsight-compute/2025.3.1/ncu, if the default does not fit the driver; default: the one on PATH, else in the folders of NVIDIA's packages")
	fs.IntVar(&w.WarmPythons, "warm-python", min(3, max(1, runtime.NumCPU()/4)), "warm Python processes with torch per GPU, plus one that compiles; each CPU slot has one with NumPy; 0: none")
	fs.IntVar(&w.MeasuringProcesses, "ranked-processes", harness.MaxProcesses, "maximum number of fresh processes that measure a score; below 5, every score is marked as noisy")
	fs.DurationVar(&w.SlotBenchmarkEvery, "gauge-every", 10*time.Minute, "how often idle slots are measured with built-in kernels, for floor and roof, beginning a minute after the start; 0: never")
	fs.BoolVar(&w.PrecompileTasks, "compile-ahead", true,
		"precompile the sources of each task while no job needs the CPU")
	fs.StringVar(&cfg.NATS.TLSCA, "nats-tls-ca", "", "PEM file of the CA that signed the certificate of the site or of NATS; default: this machine's trusted CAs")
	fs.DurationVar(&cfg.ShutdownGrace, "grace", 20*time.Second, "time for running evaluations to finish after a stop signal; those expected to take longer are requeued at once, the others when it expires")
}

func serveFlags(fs *pflag.FlagSet, cfg *Config) {
	fs.StringVar(&cfg.Addr, "addr", "127.0.0.1:3000", "address to serve on")
	fs.StringVar(&cfg.BaseURL, "base-url", "", "public address, such as https://kernels.example.org or https://lab.example.org/warpboard; with a path, the site is below it; default: http://ADDR")
	fs.BoolVar(&cfg.TLS.UsesACME, "tls-auto", false, "serve TLS on --addr with a certificate from Let's Encrypt for the host of --base-url, whose port 443 must lead here; by using it, you accept their terms")
	fs.StringVar(&cfg.TLS.CertFile, "tls-cert", "", "PEM file of a certificate, to serve TLS on --addr; a changed file is read again")
	fs.StringVar(&cfg.TLS.KeyFile, "tls-key", "", "PEM file of that certificate's key")
	fs.StringVar(&cfg.TLS.ACMEDirectoryURL, "acme-directory", "", "directory URL of another ACME server for --tls-auto; default: Let's Encrypt")
	fs.StringVar(&cfg.TLS.ACMECAFile, "acme-ca", "", "PEM file of the CA that signed the ACME server's certificate; default: this machine's trusted CAs")
	fs.StringVar(&cfg.TLS.ACMEEmail, "acme-email", "", "e-mail address for the ACME server's notices; default: none")
	fs.StringVar(&cfg.NATS.URL, "nats-url", "", "nats://… or tls://… of a NATS server, instead of the embedded one; for a cluster, its nodes separated by commas")
	fs.StringVar(&cfg.NATS.AccountSeed, "nats-account-seed", "", "seed (SA…) of the auth_callout issuer of the cluster at --nats-url, so that the cluster asks the site which workers to admit; prefer WARPBOARD_NATS_ACCOUNT_SEED_FILE")
	fs.StringVar(&cfg.NATS.Account, "nats-account", "$G", "with --nats-account-seed: the cluster's account for the site and its workers")
	fs.StringVar(&cfg.NATS.Listen, "nats-listen", "", "host:port where remote workers connect to the embedded queue; default: none")
	fs.StringVar(&cfg.NATS.TLSCert, "nats-tls-cert", "", "PEM file of the certificate for --nats-listen; without one, workers' secrets cross the network in clear text")
	fs.StringVar(&cfg.NATS.TLSKey, "nats-tls-key", "", "PEM file of that certificate's key")
	fs.IntVar(&cfg.MinFreeMiB, "min-free-disk", 512, "free space on the disk of --data, in MiB; with less, the site refuses submissions, evaluations, and tasks, and stores no profiles; 0: no limit")
	fs.StringVar(&cfg.Tasks, "tasks", "", "directory of task folders or problem sets to install at start")
	fs.Var(&cfg.TaskDevices, "task-devices", "devices for tasks of --tasks that name none, such as H200,A100")
	fs.StringVar(&cfg.Contact, "contact", "", "where to report ways to get a false score: an e-mail address or https://…; shown on /trust")
	fs.Var(&cfg.Admins, "admins", "admins, as provider:login, provider:e-mail, a verified e-mail address, or provider:id:ID,… (developer:NAME for developer sign-in)")
	fs.Var(&cfg.TrustedProxies, "trusted-proxies", "addresses or networks of reverse proxies whose X-Forwarded-For is trusted, such as 10.0.0.7,10.1.0.0/16; default: this machine's")
	fs.BoolVar(&cfg.NoWorker, "no-worker", false, "do not evaluate in this process, only on remote workers")
	fs.BoolVar(&cfg.RunBaselines, "baselines", true, "run the baselines of tasks on each of their devices while the device is idle")
	fs.BoolVar(&cfg.ConfirmRecords, "confirm-records", true, "measure a new 1st place again, alternating with the 2nd, while the device is idle")
	fs.StringVar(&cfg.SigningKey, "signing-key", "", "Ed25519 private key in PEM that signs the statements of results; prefer WARPBOARD_SIGNING_KEY_FILE; default: signing.key in --data, created at the first start")
	fs.IntVar(&cfg.SubmissionsPerHour, "submissions-per-hour", 240, "submissions per person and hour; 0: no limit")
	fs.IntVar(&cfg.MaxWaitingRuns, "waiting-runs", 40, "queued or running runs per person; 0: no limit")
	fs.IntVar(&cfg.MaxEvaluationsPerCaller, "evaluations-at-once", 16, "evaluations at once per person or address, waiting or running; a batch can have more, and the others wait")
	fs.Var(&cfg.WebhookNetworks, "webhook-allow", "private networks that the site's own webhooks can reach, such as 10.1.0.0/16,127.0.0.1; also at http:// addresses; default: none")
	fs.StringVar(&cfg.SMTP.Host, "smtp-host", "", "host of the SMTP server for notices by e-mail, over TLS unless it is this machine; default: no e-mail")
	fs.IntVar(&cfg.SMTP.Port, "smtp-port", 587, "port of the SMTP server: 465 uses TLS from the start, other ports use STARTTLS")
	fs.StringVar(&cfg.SMTP.User, "smtp-user", "", "user name on the SMTP server; default: none")
	fs.StringVar(&cfg.SMTP.Password, "smtp-password", "", "password on the SMTP server; prefer WARPBOARD_SMTP_PASSWORD_FILE")
	fs.StringVar(&cfg.SMTP.From, "smtp-from", "", "sender of the e-mails, such as Warpboard <boards@example.org>")
	fs.StringVar(&cfg.OpenEvalAPI, "open-eval-api", "loopback", "who can evaluate kernels without a token: all (everyone who can reach the site can run programs here; the answer has a key, and only its holder and the admins can read, list, and cancel), loopback (this machine, when serving on a loopback address), or none")
	fs.Var(&cfg.MetricsNetworks, "metrics-from", "addresses and networks that can read /metrics and /stats without a token and without a proxy, such as 127.0.0.1,10.0.0.0/8, or none; default: this machine if --base-url is a loopback address")
	fs.StringVar(&cfg.MetricsToken, "metrics-token", "", "token for reading /metrics and /stats from elsewhere, sent as Authorization: Bearer TOKEN; prefer the environment, which other users cannot see")
}

// envName returns the environment variable of a flag.
func envName(flagName string) string {
	return "WARPBOARD_" + strings.ToUpper(strings.ReplaceAll(flagName, "-", "_"))
}

// unknownSettingVariables returns variables that look like settings but are not: a misspelled variable would otherwise
// be ignored.
func unknownSettingVariables(environ []string) []string {
	// variables of package cli, which are not flags
	known := map[string]bool{"WARPBOARD_SERVER": true, "WARPBOARD_SITES": true, "WARPBOARD_TOKEN": true, "WARPBOARD_USER": true, "WARPBOARD_ROLE": true, "WARPBOARD_NAME": true}
	for name := range flagNames() {
		known[envName(name)], known[envName(name)+"_FILE"] = true, name != settingsFileFlag
	}
	var unknown []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		ours := strings.HasPrefix(name, "WARPBOARD_") && !strings.HasPrefix(name, "WARPBOARD_TEST_") && !strings.HasPrefix(name, "WARPBOARD_BENCH_")
		if ours && !known[name] {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}
