package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// hideArguments has bubblewrap read its options, with the program's environment among them, from a descriptor:
// what stands on a command line can be read by every local account. The program and its arguments stay.
func (d *descriptors) hideArguments(cmd *exec.Cmd) error {
	end := slices.Index(cmd.Args, "--")
	for _, arg := range cmd.Args[1:end] {
		if strings.Contains(arg, "\x00") {
			return fmt.Errorf("the option %q of a run holds a zero byte", arg) // what follows would be options of its own
		}
	}
	file, err := sealedFile("arguments", strings.Join(cmd.Args[1:end], "\x00")+"\x00")
	if err != nil {
		return fmt.Errorf("write bubblewrap's options: %w", err)
	}
	d.theirs = append(d.theirs, file)
	number := 3 + len(cmd.ExtraFiles)
	cmd.ExtraFiles = append(cmd.ExtraFiles, file)
	cmd.Args = slices.Concat(cmd.Args[:1], []string{"--args", strconv.Itoa(number)}, cmd.Args[end:])
	return nil
}

// sealedFile is memory that can only be read, from its beginning.
func sealedFile(name, text string) (*os.File, error) {
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
