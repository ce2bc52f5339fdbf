// Package browsertest shows pages in a real headless Chromium, for tests: the headless shell, or the whole browser
// where that is not installed. A test process starts one browser at its first use; windows share no cookies and no
// storage.
//
// Until and Shows wait for a page's state.
package browsertest
