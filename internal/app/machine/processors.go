package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/device"
)

// leastCores is how many cores of a machine stay for everything else when one is kept free for the judge of each GPU.
const leastCores = 3

// keepCoresFree gives the judge of each GPU a core that nothing else of this worker uses: beside a busy hyperthread a call takes
// 10 µs longer, and a score must not depend on where the system puts the judge. This process, and what it starts from now on,
// stays off those cores; a judge moves to its own by itself. Machines with few cores are left as they are.
func keepCoresFree(units []device.Slot) error {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return fmt.Errorf("ask for this process's processors: %w", err)
	}
	cores, gpus := coresOf(&all, "/sys/devices/system/cpu"), 0
	for _, u := range units {
		if u.IsGPU() {
			gpus++
		}
	}
	if gpus == 0 || len(cores) < gpus+leastCores {
		return nil
	}
	for i := range units {
		if units[i].IsGPU() {
			core := cores[len(cores)-1]
			cores, units[i].JudgeCPUs = cores[:len(cores)-1], core
			for _, cpu := range core {
				all.Clear(cpu)
			}
		}
	}
	return restrict(&all)
}

// coresOf groups the processors in a set by the core they belong to, in order.
func coresOf(set *unix.CPUSet, sys string) (cores [][]int) {
	seen := map[string]int{}
	for cpu := range len(set) * 64 {
		if !set.IsSet(cpu) {
			continue
		}
		key := strconv.Itoa(cpu)
		if text, err := os.ReadFile(filepath.Join(sys, "cpu"+key, "topology/thread_siblings_list")); err == nil {
			key = "siblings " + strings.TrimSpace(string(text))
		}
		if at, ok := seen[key]; ok {
			cores[at] = append(cores[at], cpu)
			continue
		}
		seen[key] = len(cores)
		cores = append(cores, []int{cpu})
	}
	return cores
}

// restrict moves all threads of this process to these processors. New threads inherit that from the one that starts them, so
// it is done when a look finds no thread that it does not know.
func restrict(set *unix.CPUSet) error {
	var done []string
	for {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("list this process's threads: %w", err)
		}
		again := false
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			if err != nil || slices.Contains(done, thread.Name()) {
				continue
			}
			if err := unix.SchedSetaffinity(id, set); err != nil && err != unix.ESRCH {
				return fmt.Errorf("keep a core free for judges: %w", err)
			}
			done, again = append(done, thread.Name()), true
		}
		if !again {
			return nil
		}
	}
}
