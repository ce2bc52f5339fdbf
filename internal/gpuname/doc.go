// Package gpuname names kinds of devices: it makes a GPU's label from its driver's name, and finds the devices that a name means.
//
// A worker labels its slots with Of (evaluator/device), and that label is the device of boards, queues and addresses.
// Task files, people and old rows have shorter names ("H100"): Choose finds their devices.
//
// It promises that two GPUs of different form or memory never have one label: names without a short label are spelled out in
// full.
//
// What may go wrong: drivers may use any name. A form without a rule here is left out of the label, and two such forms then
// share a board. A leaf: it imports nothing of Warpboard.
package gpuname
