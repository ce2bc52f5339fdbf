// Package gpuname names devices: it derives a GPU's label from its driver's name, and finds the devices meant by a
// name.
//
// A worker labels its slots with Parse (evaluator/device), and that label is the device of boards, queues, and
// addresses. Task files, people, and old rows have shorter names ("H100"): DevicesWithName finds their devices.
//
// Two GPUs with different form factors or memory sizes never have the same label: names without a short label are
// written in full.
//
// Drivers may use any name. A form factor without a rule here is omitted from the label, and two such forms then share
// a board.
package gpuname
