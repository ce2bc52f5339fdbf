// Package pages answers with HTML about tasks, boards, submissions, devices, accounts and people. Each handler reads the
// request, queries the store, shapes a view model of package views and renders it.
//
// A file per noun: home.go, task.go and submit.go (a task and its form), board.go, submissions.go, devices.go and
// workers.go (with the queue), account.go and users.go, trust.go, harness.go; events.go streams the parts that
// change. Pages that make tasks are in authoring, single kernels in playground, profiles and comparisons in
// profiles, reports and decisions about runs in moderation.
//
// Live HTML is the same for everyone, so it contains only what all may read.
package pages
