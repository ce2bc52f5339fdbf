// Package silicon names kinds of devices: what a GPU is, from what its driver says, and which of them a name stands for.
//
// A worker labels its slots with Of (evaluator/device), and that label is the device of boards, queues and addresses.
// Task files, people and old rows say less ("H100"): Choose finds what they mean.
//
// It promises that two GPUs of different form or memory never have one label: what the table of short labels does not
// name is spelled out in full.
//
// What may go wrong: drivers name units as they like. A form that no rule here knows is left out of the label, and two
// such forms then share a board. A leaf: it imports nothing of Warpboard.
package silicon
