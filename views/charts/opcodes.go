package charts

import "warpboard/evaluator/ncu"

// opcodeHelp explains an instruction by its opcode; empty for rare ones.
func opcodeHelp(op string) string {
	if text := memoryHelp(op); text != "" {
		return text
	}
	switch op {
	case "FADD", "FADD2":
		return "adds single precision"
	case "FMUL", "FMUL2":
		return "multiplies single precision"
	case "FFMA", "FFMA2":
		return "multiplies and adds single precision"
	case "FMNMX", "FSETP", "FSEL", "FSET", "FCHK":
		return "compares or chooses single precision"
	case "HADD2", "HMUL2", "HFMA2", "HMNMX2", "HSETP2":
		return "two half-precision operations at once"
	case "DADD", "DMUL", "DFMA", "DSETP":
		return "double precision"
	case "MUFU":
		return "a special function: reciprocal, root, exponential, sine"
	case "HMMA", "IMMA", "DMMA", "QMMA":
		return "multiplies matrices on tensor cores, a warp at a time"
	case "HGMMA", "IGMMA", "QGMMA", "BGMMA":
		return "multiplies matrices on tensor cores, asynchronously, a warp group at a time"
	case "WARPGROUP", "WARPGROUPSET", "WARPSYNC", "NANOSLEEP":
		return "warps wait for each other"
	case "IADD3", "IADD", "UIADD3", "IMAD", "UIMAD", "LEA", "ULEA", "IABS", "VIADD":
		return "integer arithmetic, mostly addresses and counters"
	case "LOP3", "PLOP3", "ULOP3", "UPLOP3", "SHF", "USHF", "PRMT", "UPRMT", "SGXT", "BMSK", "POPC", "FLO":
		return "bits: logic, shifts, permutations"
	case "ISETP", "UISETP", "IMNMX", "VIMNMX", "SEL", "USEL":
		return "compares or chooses integers"
	case "I2F", "F2I", "F2F", "I2I", "F2FP", "I2FP", "FRND":
		return "converts between types"
	case "MOV", "UMOV", "S2R", "S2UR", "CS2R", "R2UR", "R2P", "P2R":
		return "moves a value between registers"
	case "SHFL", "VOTE", "VOTEU", "MATCH", "REDUX":
		return "lanes of a warp exchange values"
	}
	return controlOpcodeHelp(op)
}

func memoryHelp(op string) string {
	switch op {
	case "LDG", "LD":
		return "loads from global memory"
	case "STG", "ST":
		return "stores to global memory"
	case "LDS", "LDSM":
		return "loads from shared memory"
	case "STS", "STSM":
		return "stores to shared memory"
	case "LDL", "STL":
		return "spilled registers and indexed arrays: local memory"
	case "LDC", "ULDC", "LDCU":
		return "loads a constant, such as a kernel's argument"
	case "LDGSTS", "UBLKCP", "UTMALDG", "UTMASTG", "LDGDEPBAR", "UTMACMDFLUSH", "UTMACCTL":
		return "copies between global and shared memory without registers"
	case "ATOMG", "ATOM", "ATOMS", "RED", "REDG":
		return "changes memory atomically"
	case "MEMBAR", "FENCE", "ERRBAR", "CCTL":
		return "orders accesses to memory"
	case "TEX", "TLD", "TLD4", "SULD", "SUST":
		return "reads or writes textures and surfaces"
	}
	return ""
}

func controlOpcodeHelp(op string) string {
	switch op {
	case "BRA", "BRX", "JMP", "CALL", "RET", "BREAK":
		return "jumps to another instruction"
	case "BSSY", "BSYNC", "BMOV":
		return "brings diverged lanes together again"
	case "BAR", "DEPBAR", "SYNCS", "UCGABAR", "ELECT":
		return "waits for other warps or for copies"
	case "EXIT", "NOP", "YIELD", "BPT":
		return "ends, or does nothing"
	}
	return ""
}

// instructionTitle returns the tooltip of an instruction.
func instructionTitle(r codeRow) string {
	title, op := "+0x"+r.offset, ncu.OpcodeOf(r.line.Instruction)
	if help := opcodeHelp(op); help != "" {
		title = op + ": " + help + " (" + title + ")"
	}
	return title
}
