// Package tasks is the task format: it reads a task.yml with its files, zips, problem sets, single reference files in
// the legacy format, and problems of other benchmarks into a Bundle, checks it, and writes it again. It runs nothing
// and uses no database; site, commands, worker, and harness all call it.
//
// In reading order:
//
//	submission.go         a submission; submission_files.go: allowed further files, text.go: allowed texts
//	definition.go         Definition, Case, File, BuildConfig: the parts of a task, and their limits
//	bundle.go             a Definition with the contents of its files
//	read.go               opens a folder, a zip, or a single file; filetree/ reads files within limits
//	reader.go             one YAML file: unknown keys, types, all problems at once
//	keys.go, parts.go     the keys of task.yml and of the files beside it, for the reader and for people
//	taskfile.go           task.yml by its keys; config.go, files.go, roofline.go read the larger ones; names.go has rules for names
//	draw.go, devices.go   values drawn from ranges; cases for some devices only
//	harness.go            the task's own eval program, or Warpboard's; standard_harness.go switches to the latter
//	reference.go          the legacy format: one file that defines input_t, generate_input, and other names
//	problemset.go         several tasks with deadlines; Proposals of an upload
//	importing/            task folders made of problems of other benchmarks
//	lint.go               warnings
//	write.go              a Bundle as zip and task.yml
//	solutions.go          the built-in tasks in examples/, and solutions for verify-task
//	validation.go         a script that tries a submission in an application
//	parse/                problems of an upload; #!POPCORN lines, allowed compile flags, the expressions of the roofline
//	tags/                 the form of tags, and the tags for difficulty
//	changes/              differences between two versions, and whether scores are comparable
//	mutants/              wrong submissions made from a correct one, and answers that need no computation
//	pyyaml/               YAML as PyYAML reads it, and writing it
//
// Guarantees: folders written for KernelBot can be read unchanged; reading and writing a task preserves it; a refusal
// is a Problem for the author, any other error is a failure of the machine; reading is limited in size, files, depth,
// and time; no path leaves the upload.
//
// Two files may be the same on a case-insensitive file system, so such zips are refused.
package tasks
