// Package tasks is the task format: it reads a task.yml with its files, zips, problem sets and single reference files in the
// legacy format into a Bundle, checks it, and writes it again. It runs nothing and uses no database; site, commands, worker
// and harness all call it.
//
// In reading order:
//
//	submission.go         a submission; submission_files.go: which further files are allowed, text.go: which texts
//	definition.go         Definition, Case, File, Config: what a task is, and its limits
//	bundle.go             a Definition with the contents of its files
//	read.go               the ways in: a folder, a zip, a single file; filetree/ reads files within limits
//	reader.go             one YAML file: unknown keys, types, all problems at once
//	keys.go, parts.go     the keys of task.yml and of the files beside it, for the reader and for people
//	taskfile.go           task.yml by its keys; config.go, files.go, roofline.go read the larger ones; names.go has the rules for names
//	harness.go            who measures: the task's own eval program, or Warpboard's; standard_harness.go switches to the latter
//	reference.go          the legacy format: one file with input_t, generate_input and friends
//	problemset.go         several tasks with deadlines; Proposals of an upload
//	lint.go               warnings without a refusal
//	write.go              a Bundle as zip and task.yml
//	solutions.go          the built-in tasks in examples/, and solutions that verify-task runs
//	problems/             problems of an upload: file, line, key and the fix
//	tags/                 the form of tags, and the tags for difficulty
//	changes/              what changed between two versions, and whether scores are still comparable
//	directives/           #!POPCORN lines of a submission
//	pyyaml/               YAML as PyYAML reads it, and writing it
//	flags/, arithmetic/   the compile flags that a task may set; the expressions of its roofline
//
// It promises: folders written for KernelBot read as they are; what is read and written again is the same task; a
// refusal is a Problem for the author, anything else an error of the machine; reading is bounded in size, files,
// depth and time, whatever was uploaded; no path leaves the upload.
//
// What may go wrong: two files may be one on a file system without case, so such zips are refused.
package tasks
