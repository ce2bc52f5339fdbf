// Package webtest starts whole sites for tests of package web and of the packages below it: a server on a real
// listener, with its own store, which the tests call over HTTP like people and programs.
//
// Read site.go (Site; Browser, which keeps cookies and sends CSRF tokens), stage.go (a task and its submitters),
// scene.go (people, boards, and runs in every state), profile_scene.go (with profiles), evals.go (the evaluation API),
// worker.go (a worker's reports, and readers of streams), window.go (Chromium, and axe-core). Main runs a package's
// tests.
//
// Scenes are set up once per test process: each test has a copy of the database.
package webtest
