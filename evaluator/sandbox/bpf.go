package sandbox

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data, the input of a filter.
const (
	seccompNumberOffset   = 0
	seccompArchOffset     = 4
	seccompFirstArgOffset = 16 // the low half, on a little-endian machine
	seccompArgSize        = 8  // distance between arguments
)

const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// bpfProgram is a classic BPF program under construction.
type bpfProgram []unix.SockFilter

func (p *bpfProgram) addLoad(offset uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset})
}

// addJump compares the loaded value with k and skips yes or no instructions.
func (p *bpfProgram) addJump(comparison uint16, k uint32, yes, no uint8) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | comparison, Jt: yes, Jf: no, K: k})
}

func (p *bpfProgram) returnAction(action uint32) {
	*p = append(*p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action})
}

// returnForCall ends the filter with action if the loaded value (the number of the call or an argument) is k.
func (p *bpfProgram) returnForCall(k, action uint32) {
	p.addJump(unix.BPF_JEQ, k, 0, 1)
	p.returnAction(action)
}

// returnForArgument handles the call with number k. It ends the filter with hit if the argument with index arg matches
// one of the values, and otherwise with miss. The jump lengths are computed here: a value adds two instructions, and Jt
// and Jf have 8 bits. It compares only the low half of an argument, because the calls here have 32-bit values.
func (p *bpfProgram) returnForArgument(k, arg uint32, comparison uint16, values []uint32, hit, miss uint32) {
	p.addJump(unix.BPF_JEQ, k, 0, uint8(2+2*len(values)))
	p.addLoad(seccompFirstArgOffset + arg*seccompArgSize)
	for _, value := range values {
		p.addJump(comparison, value, 0, 1)
		p.returnAction(hit)
	}
	p.returnAction(miss)
}

// socketRules allows sockets of the given families and denies all others. Of netlink it allows at most the protocol for
// routes and addresses (routes).
func (p *bpfProgram) socketRules(families []uint32, routes bool, denied uint32) {
	var body bpfProgram
	body.addLoad(seccompFirstArgOffset)
	for _, family := range families {
		body.returnForCall(family, unix.SECCOMP_RET_ALLOW)
	}
	if routes {
		body.addJump(unix.BPF_JEQ, unix.AF_NETLINK, 0, 3)
		body.addLoad(seccompFirstArgOffset + 2*seccompArgSize)
		body.returnForCall(unix.NETLINK_ROUTE, unix.SECCOMP_RET_ALLOW)
	}
	body.returnAction(denied)
	p.addJump(unix.BPF_JEQ, unix.SYS_SOCKET, 0, uint8(len(body)))
	*p = append(*p, body...)
}

// socketOptionRules denies the given options of the socket level, and allows all others.
func (p *bpfProgram) socketOptionRules(options []uint32, denied uint32) {
	var body bpfProgram
	body.addLoad(seccompFirstArgOffset + seccompArgSize)
	body.addJump(unix.BPF_JEQ, unix.SOL_SOCKET, 0, uint8(1+2*len(options)))
	body.addLoad(seccompFirstArgOffset + 2*seccompArgSize)
	for _, option := range options {
		body.returnForCall(option, denied)
	}
	body.returnAction(unix.SECCOMP_RET_ALLOW)
	p.addJump(unix.BPF_JEQ, unix.SYS_SETSOCKOPT, 0, uint8(len(body)))
	*p = append(*p, body...)
}

// encode returns the program in bubblewrap's format: an array of struct sock_filter.
func (p bpfProgram) encode() []byte {
	var b bytes.Buffer
	// Writing fixed-size values to a bytes.Buffer cannot fail.
	_ = binary.Write(&b, binary.NativeEndian, []unix.SockFilter(p))
	return b.Bytes()
}
