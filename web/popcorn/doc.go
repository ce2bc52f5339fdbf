// Package popcorn answers popcorn-cli, the command line of KernelBot, below /popcorn: people keep it and set
// POPCORN_API_URL. It translates shapes and nothing else: tasks are leaderboards, devices are GPUs, nanoseconds are
// seconds, and one run is a row for each of its stages. What is asked and answered is the site's own (package site/runs and the store).
//
// Read popcorn.go first (who asks, and how it is refused), then boards.go (leaderboards, GPUs, queues), submit.go
// (the two ways to submit: one that is asked about later, and one that is followed), mine.go (one's own submissions),
// shapes.go, rows.go and report.go (a run in KernelBot's words), stream.go (a submission that is followed) and profile.go.
//
// A personal token comes in the header X-Popcorn-Cli-Id, and counts as if it came as Authorization: Bearer. Cookies count
// for nothing here, so no other site can make a browser submit.
//
// What may go wrong: popcorn-cli prints the detail of a refusal, and of a submission that ended only what its job says of a
// failure. So a wrong kernel is a failed job here, with the reason; KernelBot lets it succeed.
package popcorn
