// Package changes tells what differs between two versions of a task, key by key as in task.yml, and whether scores of both still
// compare. Pages of a new version, the API and `task sync` show it.
//
// It promises: what is timed, and how a score is made of it, breaks scores; tests, limits, texts, templates, baselines and devices
// do not. A key that is added to the format and forgotten here changes silently: a test compares all keys.
package changes
