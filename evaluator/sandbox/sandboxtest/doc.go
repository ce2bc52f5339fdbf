// Package sandboxtest gives tests what only one of them may use at a time on a machine: the user
// ids that their sandboxes run under, and addresses. Tests count the processes of those ids, and the kernel counts
// them for its limits, so neither another test nor a site that runs beside may have the same ones. What tests compile lies in a
// folder that all may have.
package sandboxtest
