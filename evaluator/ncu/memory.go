package ncu

// MemoryPath is the traffic between memory levels.
type MemoryPath struct {
	Levels []MemoryLevel `json:"levels"` // from the registers outwards
	Links  []MemoryLink  `json:"links"`
}

// MemoryLevel is one box of the memory chart.
type MemoryLevel struct {
	Name  string `json:"name"`
	Facts []Fact `json:"facts,omitempty"` // hit rate, busy percentage, conflicts
}

// MemoryLink is one arrow of the memory chart. FromLevel and ToLevel are indexes into MemoryPath.Levels.
type MemoryLink struct {
	FromLevel int    `json:"from"`
	ToLevel   int    `json:"to"`
	Name      string `json:"name"`
	Amount    Fact   `json:"amount"` // bytes, or wavefronts for shared memory
	Rate      Fact   `json:"rate"`   // bytes per second; not measured for shared memory
}

// Indexes into MemoryPath.Levels.
const (
	LevelRegisters = iota
	LevelL1
	LevelShared
	LevelL2
	LevelDRAM
)

// sectorBytes is the size of a sector in the L1 counters.
const sectorBytes = 32

// MemoryPathOf computes the memory chart of a kernel.
func MemoryPathOf(k *Kernel) MemoryPath {
	pct := func(label, metric string) Fact { return k.metricFact(label, metric) }
	return MemoryPath{
		Levels: []MemoryLevel{
			LevelRegisters: {Name: "Registers", Facts: []Fact{pct("Spilling requests", "derived__local_spilling_requests")}},
			LevelL1: {Name: "L1 / TEX", Facts: []Fact{
				pct("Hit rate", "l1tex__t_sector_hit_rate.pct"),
				pct("Busy", "l1tex__throughput.avg.pct_of_peak_sustained_active"),
			}},
			LevelShared: {Name: "Shared memory", Facts: []Fact{
				pct("Bank conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"),
				pct("Busy", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed"),
			}},
			LevelL2: {Name: "L2", Facts: []Fact{
				pct("Hit rate", "lts__t_sector_hit_rate.pct"),
				pct("Busy", "lts__throughput.avg.pct_of_peak_sustained_elapsed"),
			}},
			LevelDRAM: {Name: "DRAM", Facts: []Fact{pct("Busy", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed")}},
		},
		Links: []MemoryLink{
			k.memoryLinkInSectors(LevelL1, LevelRegisters, "Global loads", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
			k.memoryLinkInSectors(LevelRegisters, LevelL1, "Global stores", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
			k.memoryLinkInSectors(LevelL1, LevelRegisters, "Local loads", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"),
			k.memoryLinkInSectors(LevelRegisters, LevelL1, "Local stores", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"),
			k.memoryLinkInWavefronts(LevelShared, LevelRegisters, "Shared loads", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"),
			k.memoryLinkInWavefronts(LevelRegisters, LevelShared, "Shared stores", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"),
			k.memoryLinkInBytes(LevelL2, LevelL1, "Reads", "l1tex__m_xbar2l1tex_read_bytes.sum"),
			k.memoryLinkInBytes(LevelL1, LevelL2, "Writes", "l1tex__m_l1tex2xbar_write_bytes.sum"),
			k.memoryLinkInBytes(LevelDRAM, LevelL2, "Reads", "dram__bytes_read.sum"),
			k.memoryLinkInBytes(LevelL2, LevelDRAM, "Writes", "dram__bytes_write.sum"),
		},
	}
}

// LinkLabel describes a link: "Reads: DRAM → L2".
func (p MemoryPath) LinkLabel(l MemoryLink) string {
	return l.Name + ": " + p.Levels[l.FromLevel].Name + " → " + p.Levels[l.ToLevel].Name
}

// memoryLinkInBytes returns a link whose bytes and rate ncu measured.
func (k *Kernel) memoryLinkInBytes(from, to int, name, metric string) MemoryLink {
	return MemoryLink{
		FromLevel: from,
		ToLevel:   to,
		Name:      name,
		Amount:    k.metricFact(name, metric),
		Rate:      k.metricFact(name+" per second", metric+".per_second"),
	}
}

// memoryLinkInSectors returns a link that ncu counts in sectors. Its bytes and rate are computed.
func (k *Kernel) memoryLinkInSectors(from, to int, name, metric string) MemoryLink {
	sectors, ok := k.valueInBaseUnit(metric)
	bytes := sectors * sectorBytes
	ns, timed := k.Duration()
	rate := 0.0
	if timed = timed && ns > 0; timed {
		rate = bytes / (ns / 1e9)
	}
	return MemoryLink{
		FromLevel: from, ToLevel: to, Name: name,
		Amount: newComputedFact(name, metric+" × 32 byte", "byte", bytes, ok),
		Rate:   newComputedFact(name+" per second", metric+" × 32 byte ÷ gpu__time_duration.sum", "byte/s", rate, ok && timed),
	}
}

// memoryLinkInWavefronts returns a link of shared memory, which ncu counts in wavefronts instead of bytes.
func (k *Kernel) memoryLinkInWavefronts(from, to int, name, metric string) MemoryLink {
	amount := k.metricFact(name, metric)
	amount.Value.UnitName = "wavefront"
	return MemoryLink{FromLevel: from, ToLevel: to, Name: name, Amount: amount}
}
