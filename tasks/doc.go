// Package tasks is the task format: it reads task.yml, zips, problem sets and the older
// single-reference form, and refuses what is wrong with a sentence naming file, line and key.
// It knows nothing of databases, web pages or GPUs.
package tasks
