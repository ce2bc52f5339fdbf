package device

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// neighboursEvery is the number of samples between two queries of a GPU's processes, which take longer than reading a
// clock.
const neighboursEvery = 5

// neighbours counts the samples with a foreign process on a GPU: one that is in /proc and not a descendant of this
// process. Process IDs of other machines or containers, which some drivers report, are ignored.
type neighbours struct {
	slot    Slot
	self    int
	samples int
	seen    int
}

func newNeighbours(slot Slot) neighbours { return neighbours{slot: slot, self: os.Getpid()} }

func (n *neighbours) look() {
	processes, ret := n.slot.gpu.GetComputeRunningProcesses()
	if ret != nvml.SUCCESS {
		return
	}
	n.samples++
	for _, p := range processes {
		if n.foreign(int(p.Pid)) {
			n.seen++
			return
		}
	}
}

// foreign follows a process's parents up to this process or to the first one. A process that ends in the meantime is
// not foreign.
func (n *neighbours) foreign(pid int) bool {
	for range 64 {
		if pid == n.self {
			return false
		}
		parent, known := parentOf(pid)
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

// parentOf parses /proc/PID/stat: "17 (a name) S 4 …".
func parentOf(pid int) (parent int, known bool) {
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

func (n *neighbours) String() string {
	if n.seen == 0 {
		return "none"
	}
	return fmt.Sprintf("in %d of %d samples", n.seen, n.samples)
}
