// Package warm keeps a pool of Pythons with the modules of tasks imported, so that a run starts in milliseconds and not in
// the seconds that importing torch takes.
//
// In reading order: pool.go keeps Pythons ready by slot and gives each out once; python.go starts one in the sandbox and
// stops it; stage.go runs a stage in one and follows it to its end; frames.go reads the pipe of warm.py, the program inside
// (evaluator/harness/programs/runner).
//
// The toolchain is the only caller. It decides what a Python imports and sees (the sandbox.Spec), takes one for a job, runs
// the job's stages in it and stops it. A Python serves one job; the judge of a task runs in a separate one, under another
// uid.
//
// What is promised: each stage is a fork of a process that has run no one's code, and finds nothing of the
// stages before it but the kernels that the job's first one compiled; when Run or Stop returns, nothing of
// the stage or of the Python is left. A resident stage is the exception: its process runs no one's code, and stays for the next
// stage of its kind with what it has set up. It ends after a failure, when it has used half of its processor time, or with its Python.
//
// What may go wrong: the imports fail or take too long (Keep tries again ever more slowly, and Take then does not wait); a
// Python dies idle (it is replaced); a stage leaves something that cannot be removed (the Python is stopped, and the next
// stage gets another one). A stage that crashes or hits a limit ends its Python, because only the end of the sandbox shows
// which limit it was.
package warm
