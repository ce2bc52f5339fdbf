package sandbox

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// lowestNice is the nice value of programs in the background, unless Config sets one.
const lowestNice = 19

// makeBackground sets the nice value of a process; its children inherit it. Linux with autogroups schedules whole
// sessions, and each run is a session: there the session's value counts, too.
func makeBackground(pid, nice int) error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, pid, nice); err != nil {
		return fmt.Errorf("lower the priority of a run: %w", err)
	}
	// Not every Linux has autogroups, and a run in its own cgroup has none.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", pid), []byte(strconv.Itoa(nice)), 0)
	return nil
}
