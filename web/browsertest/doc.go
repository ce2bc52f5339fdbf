// Package browsertest shows pages in a real headless Chromium, for tests: the headless shell, or the whole browser where that
// is not installed. A test process starts one browser at its first use; each window is someone's own: it shares no cookies and
// no storage.
//
// Until and Shows wait for what a page becomes.
package browsertest
