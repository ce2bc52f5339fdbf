// Package changes finds the differences between two versions of a task, by the keys of task.yml, and whether the scores
// of both are comparable. Pages of a new version, the API, and `task sync` show them.
//
// A change of timed parts, or of the scoring rule, breaks scores; changes of tests, limits, texts, templates,
// baselines, and devices do not. A key added to the format but not here would change silently: a test compares all
// keys.
package changes
