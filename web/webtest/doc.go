// Package webtest starts whole sites for tests of package web and of the packages below it, which stand beside what
// they test: a server on a real listener, with a store of its own, asked over HTTP as people and programs ask.
//
// Read site.go (Site; Browser, which keeps cookies and sends CSRF tokens), stage.go (a task and who submits to it),
// scene.go (people, boards, and runs in every state), profile_scene.go (with profiles), evals.go (the evaluation API),
// worker.go (what a worker reports, and readers of streams), window.go (Chromium, and axe-core). Main runs a package's
// tests.
//
// Scenes are set once per test process: each test has a copy of the database.
package webtest
