// Package device finds the devices of a worker, GPUs through NVML and the CPU, and samples the conditions under which a
// run is timed. Only this package uses NVML.
//
// In reading order: device.go has Detect and Slot; gpu.go and cpu.go find slots; watch.go samples clocks, temperature,
// and power while a stage is timed; throttle.go names the reasons for throttling; neighbours.go finds other programs on
// a GPU. Package gpuname labels GPUs.
//
// The app detects devices at start; package slots keeps the slots; taskrun and kernelrun/evaluation watch them.
//
// A machine without a driver has no GPUs, which is not an error. A GPU that stops answering while it is watched has
// fewer samples. A CPU's slots share one processor, and their runs disturb each other's times, so there is one slot
// less than there are cores.
package device
