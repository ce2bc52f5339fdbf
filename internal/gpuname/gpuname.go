package gpuname

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// CPU is the label of the only device that is not a GPU.
const CPU = "CPU"

// GPU is a kind of GPU: model, form factor, memory, and MIG profile.
type GPU struct {
	Model      string // for example "H100" or "RTX-4070-Ti-SUPER"
	FormFactor string // "SXM", "PCIe", "NVL", "Laptop", …; empty if the model has one form
	MemoryGB   int    // nominal GB; 0 if unknown
	MIGProfile string // for example "1g.10gb"; empty for a whole GPU
}

// shortLabels are labels of devices that omit what all such devices have in common. Other labels are complete: an
// unknown variant must not have the same board as another device.
var shortLabels = map[string]string{
	"H100 SXM 80GB": "H100-SXM", "H100 PCIe 80GB": "H100-PCIe", "H100 NVL 94GB": "H100-NVL",
	"H200 SXM 141GB": "H200", "H200 NVL 141GB": "H200-NVL", "B200 SXM 180GB": "B200", "B300 SXM 288GB": "B300",
	"A2 16GB": "A2", "A10 24GB": "A10", "A10G 24GB": "A10G", "A30 24GB": "A30", "A40 48GB": "A40",
	"L4 24GB": "L4", "L40 48GB": "L40", "L40S 48GB": "L40S", "T4 16GB": "T4",
	"RTX-A6000 48GB": "RTX-A6000", "RTX-6000-Ada 48GB": "RTX-6000-Ada", "RTX-8000 48GB": "RTX-8000", "TITAN-RTX 24GB": "TITAN-RTX",
	"RTX-3090 24GB": "RTX-3090", "RTX-4090 24GB": "RTX-4090", "RTX-4090-D 24GB": "RTX-4090-D", "RTX-5090 32GB": "RTX-5090",
}

// formFactors maps words for form factors in the names that NVML reports to those in labels.
var formFactors = map[string]string{
	"PCIE": "PCIe", "SXM": "SXM", "NVL": "NVL", "LAPTOP": "Laptop", "MOBILE": "Laptop", "MAX": "MaxQ", "MAXQ": "MaxQ",
	"SERVER": "Server", "WORKSTATION": "Workstation",
}

// modelsWithImpliedSXM are models whose names omit the form factor if it is SXM.
var modelsWithImpliedSXM = []string{"H100", "H200", "H800", "H20", "B200", "B300"}

// nominalMemoryGB are the memory sizes in the names of GPUs, in GB. NVML reports up to a sixteenth less, because ECC
// uses some memory.
var nominalMemoryGB = []int{2, 3, 4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141, 144, 180, 192, 288}

var (
	memoryPattern = regexp.MustCompile(`^(\d+)GB?$`)
	familyPattern = regexp.MustCompile(`(?i)^(?:RTX|GTX|TITAN)-.`)
	migPattern    = regexp.MustCompile(`^\d+g\.\d+gb`)
)

// Parse returns the kind of GPU for its name in NVML and its memory in bytes, 0 if unknown.
func Parse(name string, memory uint64) GPU {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' || r == '_' || r == '/' })
	words = slices.DeleteFunc(words, func(word string) bool {
		return slices.Contains([]string{"NVIDIA", "Tesla", "Quadro", "GeForce"}, word)
	})
	if len(words) == 0 {
		return GPU{Model: name}
	}
	end := modelNameWordCount(words)
	s := GPU{Model: strings.Join(words[:end], "-")}
	for _, word := range words[end:] {
		s.addNamePart(word)
	}
	if s.FormFactor == "" && slices.Contains(modelsWithImpliedSXM, s.Model) {
		s.FormFactor = "SXM"
	}
	if memory > 0 && s.MIGProfile == "" {
		s.MemoryGB = roundToNominalMemory(memory)
	}
	if s.MemoryGB == 0 && s.MIGProfile == "" {
		s.MemoryGB = memoryOfModel(s.String())
	}
	return s
}

// memoryOfModel returns the memory in GB of a model in one form factor, if all labels of it have the same; otherwise 0.
func memoryOfModel(name string) (memory int) {
	for full := range shortLabels {
		if rest, ok := strings.CutPrefix(full, name+" "); ok && memoryPattern.MatchString(rest) {
			memory, _ = strconv.Atoi(strings.TrimSuffix(rest, "GB"))
		}
	}
	return memory
}

// modelNameWordCount returns the number of words at the beginning that are the name of the model: those up to the first
// word with a digit, and words after it that distinguish models.
func modelNameWordCount(words []string) int {
	end := slices.IndexFunc(words, func(word string) bool { return strings.ContainsAny(word, "0123456789") }) + 1
	if end == 0 {
		return len(words) // "TITAN RTX"
	}
	for end < len(words) && slices.Contains([]string{"Ti", "SUPER", "Super", "Ada", "D"}, words[end]) {
		end++
	}
	return end
}

// addNamePart interprets a word after the model. HBM2e means a PCIe H100 of the first generation, since an SXM H100 has
// HBM3; the first number of a GH200 is the memory of its processor.
func (s *GPU) addNamePart(word string) {
	upper := strings.ToUpper(word)
	if form, known := formFactors[strings.TrimRight(upper, "0123456789")]; known && (s.FormFactor == "" || form == "MaxQ") {
		s.FormFactor = form
	}
	switch gb := memoryPattern.FindStringSubmatch(upper); {
	case gb != nil && !(s.Model == "GH200" && upper == "480GB"):
		s.MemoryGB, _ = strconv.Atoi(gb[1])
	case s.Model == "H100" && s.FormFactor == "" && upper == "HBM2E":
		s.FormFactor = "PCIe"
	case migPattern.MatchString(word):
		s.MIGProfile = word
	}
}

// roundToNominalMemory rounds a memory size up to a nominal size.
func roundToNominalMemory(bytes uint64) int {
	gib := float64(bytes) / (1 << 30)
	for _, size := range nominalMemoryGB {
		if gib <= 1.005*float64(size) && gib >= 0.9*float64(size) {
			return size
		}
	}
	return int(gib + 0.5)
}

// String returns the full name: "H100 SXM 80GB".
func (s GPU) String() string {
	words := []string{s.Model}
	if s.FormFactor != "" {
		words = append(words, s.FormFactor)
	}
	if s.MemoryGB > 0 {
		words = append(words, fmt.Sprintf("%dGB", s.MemoryGB))
	}
	if s.MIGProfile != "" {
		words = append(words, "MIG", s.MIGProfile)
	}
	return strings.Join(words, " ")
}

// Label returns the name on boards, in the queue, and in addresses: letters, digits, '-', and '.'.
func (s GPU) Label() string {
	whole := s
	whole.MIGProfile = ""
	label, known := shortLabels[whole.String()]
	if !known {
		label = strings.ReplaceAll(whole.String(), " ", "-")
	}
	if s.MIGProfile != "" {
		label += "-MIG-" + strings.ReplaceAll(s.MIGProfile, "+", ".")
	}
	return label
}

// NameMeansDevice reports whether a name means a device: its label, in any case, or its family, which is the label
// without form factor, memory, or MIG profile. A short label is not a family: H200 does not mean H200-NVL.
func NameMeansDevice(name, label string) bool {
	if strings.EqualFold(name, label) {
		return true
	}
	for _, known := range shortLabels {
		if strings.EqualFold(name, known) {
			return false
		}
	}
	if len(name) >= len(label) || label[len(name)] != '-' || !strings.EqualFold(name, label[:len(name)]) {
		return false
	}
	for _, word := range strings.Split(label[len(name)+1:], "-") {
		_, form := formFactors[strings.ToUpper(word)]
		if !form && word != "MIG" && !memoryPattern.MatchString(word) && !migPattern.MatchString(word) {
			return false // another model: RTX-4070-Ti is not an RTX-4070
		}
	}
	return true
}

// Family returns the model for a label, without form factor, memory, or MIG profile: H200 for H200-NVL.
func Family(label string) string { return Parse(label, 0).Model }

// modelsWithFullLabels are models whose labels have all parts, as in A100-SXM-80GB.
var modelsWithFullLabels = []string{"A16", "A100", "A800", "B100", "GB200", "GB300", "GH200", "H20", "H100", "H800", "P4", "P40", "P100", "V100"}

// IsKnownDevice reports whether a name probably is a device: the CPU, a server GPU in the lists of this package, or any
// member of a family of desktop GPUs.
func IsKnownDevice(name string) bool {
	name, _, _ = strings.Cut(name, "-MIG-")
	if strings.EqualFold(name, CPU) || familyPattern.MatchString(name) {
		return true
	}
	for _, label := range shortLabels {
		if NameMeansDevice(name, label) || NameMeansDevice(label, name) {
			return true
		}
	}
	return slices.ContainsFunc(modelsWithFullLabels, func(model string) bool { return NameMeansDevice(model, name) })
}

// architectures are the generations of GPUs, with the prefixes of labels of each.
var architectures = []struct {
	name   string
	labels *regexp.Regexp
}{
	{"blackwell", regexp.MustCompile(`^(B[123]00|GB[23]00|RTX-(PRO-|50))`)},
	{"hopper", regexp.MustCompile(`^(H20|H100|H200|H800|GH200)(-|$)`)},
	{"ada", regexp.MustCompile(`^(L4|L20|L40|L40S|RTX-\d+-Ada|RTX-40\d\d)(-|$)`)},
	{"ampere", regexp.MustCompile(`^(A2|A10|A10G|A16|A30|A40|A100|A800|RTX-A\d+|RTX-30\d\d)(-|$)`)},
	{"older", regexp.MustCompile(`^(T4|V100|P4|P40|P100|GTX|RTX-20\d\d)(-|$)`)},
}

// Architecture returns the generation of a device for its label: "hopper" and so on, "older" for those before Ampere,
// "cpu", or "other".
func Architecture(label string) string {
	if label == CPU {
		return "cpu"
	}
	for _, a := range architectures {
		if a.labels.MatchString(label) {
			return a.name
		}
	}
	return "other"
}

// DevicesWithName returns the devices for a name: the one with this label, otherwise all of the family.
func DevicesWithName(name string, devices []string) (chosen []string) {
	for _, d := range devices {
		if strings.EqualFold(name, d) {
			return []string{d}
		}
		if NameMeansDevice(name, d) {
			chosen = append(chosen, d)
		}
	}
	return chosen
}
