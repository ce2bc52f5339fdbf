// Package popcorn answers popcorn-cli, the command line of KernelBot, below /popcorn: people keep it and set
// POPCORN_API_URL. It only translates: tasks are leaderboards, devices are GPUs, nanoseconds become seconds, and a run
// is a row for each of its stages. The data come from package site/runs and the store.
//
// Read popcorn.go first (the caller, and refusals), then boards.go (leaderboards, GPUs, queues), submit.go (the two
// ways to submit: polled or streamed), mine.go (one's own submissions), shapes.go, rows.go, and report.go (a run in
// KernelBot's form), stream.go (a streamed submission), and profile.go.
//
// A personal token comes in the header X-Popcorn-Cli-Id, and counts like Authorization: Bearer. Cookies are ignored, so
// no other site can make a browser submit.
//
// Trap: popcorn-cli prints the detail of a refusal, but for an ended submission only the job's failure. So a wrong
// kernel is a failed job here, with the reason; in KernelBot the job succeeds.
package popcorn
