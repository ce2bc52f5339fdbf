// Package device finds what a worker can evaluate on, GPUs through NVML and the CPU, and samples the conditions under
// which a run is timed. Only this package uses NVML.
//
// In reading order: device.go is Detect and Slot; gpu.go and cpu.go find slots; package silicon labels GPUs;
// watch.go samples clocks, temperature and power while a stage is timed, throttle.go names why a GPU was slowed.
//
// The app detects at start; package slots keeps the slots; taskrun and kernelrun/evaluation watch.
//
// A machine without a driver has no GPUs, which is not an error. A GPU that stops answering while it is watched leaves its
// samples out. A CPU's slots share one processor, and their runs disturb each other's times. So there is one slot less than
// there are cores.
package device
