// Package changes finds what differs between two versions of a task, key by key as in task.yml, and whether scores of both
// are still comparable. Pages of a new version, the API and `task sync` show it.
//
// It promises: a change of what is timed, or of how the score is computed, breaks scores; tests, limits, texts, templates,
// baselines and devices do not. A key that is added to the format and forgotten here changes silently: a test compares all
// keys.
package changes
