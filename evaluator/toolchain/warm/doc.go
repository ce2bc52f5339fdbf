// Package warm keeps a pool of Pythons with the modules of tasks imported: a run then starts in milliseconds instead of
// the seconds that importing torch takes.
//
// In reading order: pool.go keeps Pythons ready by slot and hands each out once; python.go starts one in the sandbox,
// stops it, and reads the frames of warm.py, the program inside (evaluator/harness/programs/runner); stage.go runs a
// stage and follows it to its end.
//
// The toolchain is the only caller. It decides what a Python imports and sees (the sandbox.Spec), takes one for a job,
// runs the job's stages in it, and stops it. A Python serves one job. A task's judge runs in a separate Python, under
// another user ID.
//
// Guarantees: each stage is a fork of a process that has run no untrusted code. It finds nothing of earlier stages,
// not even the kernels that they compiled. When Run or Stop returns, nothing of the stage or the Python is left. All
// output of a stage has been passed on when Stage.OnOutputClosed is called. A resident stage is the exception: its
// process runs no untrusted code and keeps its state for the next stage of its kind. It ends after a failure, when it
// has used half of its processor time, or with its Python. A process that is prepared (Python.PrepareStage) makes its
// CUDA context while it waits, and imports its program's modules, which are forgotten if the stage has others. No
// untrusted code runs in its sandbox until it has become the stage.
//
// Failures: the imports fail or take too long (KeepPythonsReady retries with growing pauses, and TakeMatching does not
// wait); an idle Python dies (it is replaced); a stage leaves something that cannot be removed (the Python is stopped,
// and the next stage gets another one). A stage that crashes or hits a limit ends its Python, because only the end of
// the sandbox shows which limit it was.
package warm
