package sandbox

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// hideArguments makes bubblewrap read its options, which include the program's environment, from a descriptor, because
// every local user can read command lines. The program and its arguments stay on the command line.
func (d *runDescriptors) hideArguments(cmd *exec.Cmd) error {
	end := slices.Index(cmd.Args, "--")
	for _, arg := range cmd.Args[1:end] {
		if strings.Contains(arg, "\x00") {
			return fmt.Errorf("the option %q of a run holds a zero byte", arg) // it would begin a new option
		}
	}
	file, err := NewSealedFile("arguments", strings.Join(cmd.Args[1:end], "\x00")+"\x00")
	if err != nil {
		return fmt.Errorf("write bubblewrap's options: %w", err)
	}
	d.childFiles = append(d.childFiles, file)
	number := 3 + len(cmd.ExtraFiles)
	cmd.ExtraFiles = append(cmd.ExtraFiles, file)
	cmd.Args = slices.Concat(cmd.Args[:1], []string{"--args", strconv.Itoa(number)}, cmd.Args[end:])
	return nil
}

// NewSealedFile returns read-only memory that contains text, positioned at its beginning.
func NewSealedFile(name, text string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), name)
	if _, err = file.WriteString(text); err == nil {
		_, err = file.Seek(0, 0)
	}
	if err == nil {
		const all = unix.F_SEAL_WRITE | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, all)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// systemDirs returns the directories that are links into /usr on most machines, and separate on others.
func systemDirs() []string {
	return []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64"}
}

// environment returns the environment of a program: common variables, overridden by own.
func environment(own map[string]string) map[string]string {
	env := map[string]string{
		"PATH": "/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin",
		"HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8",
		// There is no /etc/passwd, so programs find the user's name here.
		"USER": "job", "LOGNAME": "job",
	}
	maps.Copy(env, own)
	return env
}

// bwrapArguments returns bubblewrap's command line for a run; fds are the descriptors that bubblewrap reads. The order
// matters, because later options cover earlier ones: /dev before its nodes, mounts before /in and /out, remounts last.
func bwrapArguments(spec *Spec, a *runArea, uid int, fds bwrapDescriptors) []string {
	// Without a separate user ID a run has the server's, and only the PID namespace protects the server's processes.
	gid := uid
	if uid < 0 {
		uid, gid = os.Getuid(), os.Getgid()
	}
	args := []string{
		"--unshare-user", "--unshare-all", "--disable-userns",
		"--uid", strconv.Itoa(uid), "--gid", strconv.Itoa(gid), "--hostname", "job",
		"--die-with-parent", "--clearenv",
	}
	env := environment(spec.Env)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		args = append(args, "--setenv", name, env[name])
	}
	args = append(args, systemMountOptions()...)
	if spec.MountProc {
		// bubblewrap's own process has the run's user ID and no seccomp filter. A program that wrote its memory through
		// /proc would escape the filter, and its command line contains the program's secrets.
		args = append(args, "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--perms", "0555", "--size", "4096", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1")
	}
	args = append(args, "--dev", "/dev") // must precede the device nodes, because it would hide them
	for _, node := range spec.DeviceNodes {
		args = append(args, "--dev-bind", node, node)
	}
	args = append(args, tmpfsArguments("/dev/shm", spec.Limits.ShmBytes)...)
	args = append(args, tmpfsArguments("/tmp", spec.Limits.TmpBytes)...)
	for _, b := range a.bindMounts {
		args = append(args, "--ro-bind", b.host, b.inside)
	}
	args = append(args,
		"--ro-bind", a.inPath, "/in", "--bind", a.outPath, "/out",
		"--seccomp", strconv.Itoa(fds.seccompFD),
		"--json-status-fd", strconv.Itoa(fds.statusFD), "--block-fd", strconv.Itoa(fds.gateFD),
		// The remounts come last, because bubblewrap creates mount points in these directories. /dev and / are tmpfs,
		// each with half of the machine's memory.
		"--remount-ro", "/dev/pts", "--remount-ro", "/dev", "--remount-ro", "/",
		"--chdir", cmp.Or(spec.WorkingDir, "/tmp"), "--",
	)
	return append(args, spec.Argv...)
}

// systemMountOptions returns the options that show the host's programs and libraries, and of /etc only the loader's
// files.
func systemMountOptions() []string {
	// Every program can read everything below /usr: no secret belongs there.
	args := []string{"--ro-bind", "/usr", "/usr"}
	for _, dir := range systemDirs() {
		if target, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", target, dir)
		} else {
			args = append(args, "--ro-bind-try", dir, dir)
		}
	}
	return append(args,
		"--ro-bind-try", "/etc/alternatives", "/etc/alternatives",
		"--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache",
	)
}

func tmpfsArguments(dir string, size int64) []string {
	return []string{"--size", fmt.Sprint(areaSize(size)), "--tmpfs", dir}
}
