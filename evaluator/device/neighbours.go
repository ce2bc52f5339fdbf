package device

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// foreignProcessInterval is the number of samples between two queries for a GPU's processes, which take longer than
// reading a clock rate.
const foreignProcessInterval = 5

// foreignProcessCounter counts the samples in which a GPU had a foreign process: one that is in /proc and is not a
// descendant of this process. Some drivers report process IDs of other machines or containers, which are ignored.
type foreignProcessCounter struct {
	slot               Slot
	ownPID             int
	samples            int
	samplesWithForeign int
}

func newForeignProcessCounter(slot Slot) foreignProcessCounter {
	return foreignProcessCounter{slot: slot, ownPID: os.Getpid()}
}

func (n *foreignProcessCounter) sample() {
	processes, ret := n.slot.nvmlDevice.GetComputeRunningProcesses()
	if ret != nvml.SUCCESS {
		return
	}
	n.samples++
	for _, p := range processes {
		if n.isForeign(int(p.Pid)) {
			n.samplesWithForeign++
			return
		}
	}
}

// isForeign follows the parents of a process up to this process or to PID 1. A process that ends during the search is
// not foreign.
func (n *foreignProcessCounter) isForeign(pid int) bool {
	for range 64 {
		if pid == n.ownPID {
			return false
		}
		parent, known := parentPID(pid)
		switch {
		case !known:
			return false
		case parent <= 1:
			return true
		}
		pid = parent
	}
	return false
}

// parentPID returns the parent's PID from /proc/PID/stat ("17 (a name) S 4 …").
func parentPID(pid int) (parent int, known bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return parent, err == nil
}

func (n *foreignProcessCounter) String() string {
	if n.samplesWithForeign == 0 {
		return "none"
	}
	return fmt.Sprintf("in %d of %d samples", n.samplesWithForeign, n.samples)
}
