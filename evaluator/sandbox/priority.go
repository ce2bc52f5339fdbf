package sandbox

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// lowestNice is the nice value of programs in the background, unless Config sets one.
const lowestNice = 19

// setBackgroundPriority sets the nice value of a process, which its children inherit. Linux with autogroups schedules
// sessions, and each run is a session, so the session's nice value is set, too. Programs in the background cannot begin
// another session, which would have the normal one.
func setBackgroundPriority(pid, nice int) error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, pid, nice); err != nil {
		return fmt.Errorf("lower the priority of a run: %w", err)
	}
	// Not every Linux has autogroups, and a run in its own cgroup has none.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", pid), []byte(strconv.Itoa(nice)), 0)
	return nil
}

// preferToKill makes Linux kill this process or its children, rather than the server or its database, when the machine
// runs out of memory: the limits of an evaluation's processes add up to more than the machine has. The process can undo
// this if the server lacks CAP_SYS_RESOURCE.
func preferToKill(pid int) error {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("1000"), 0); err != nil {
		return fmt.Errorf("let a run be killed first: %w", err)
	}
	return nil
}
