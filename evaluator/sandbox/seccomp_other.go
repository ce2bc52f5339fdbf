//go:build !amd64

package sandbox

import "errors"

type deniedSystemCall struct {
	name   string
	number uint32
}

func deniedSystemCalls() []deniedSystemCall { return nil }

func seccompFilter(seccompKind) ([]byte, error) {
	return nil, errors.New("the sandbox has a system call filter for x86-64 only; use such a machine, or turn the sandbox off")
}
