package gpuname

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLabelTellsFormAndMemoryApart(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name         string
		memory       uint64 // memory in bytes, as NVML reports it
		full, labels string
	}{
		{"NVIDIA H100 80GB HBM3", 81559 * mib, "H100 SXM 80GB", "H100-SXM"},
		{"NVIDIA H100 80GB HBM2e", 81559 * mib, "H100 PCIe 80GB", "H100-PCIe"},
		{"NVIDIA H100 PCIe", 81559 * mib, "H100 PCIe 80GB", "H100-PCIe"},
		{"NVIDIA H100 NVL", 95830 * mib, "H100 NVL 94GB", "H100-NVL"},
		{"NVIDIA H100 64GB HBM3", 65536 * mib, "H100 SXM 64GB", "H100-SXM-64GB"},
		{"NVIDIA H200", 143771 * mib, "H200 SXM 141GB", "H200"},
		{"NVIDIA H200 NVL", 143771 * mib, "H200 NVL 141GB", "H200-NVL"},
		{"NVIDIA B200", 183359 * mib, "B200 SXM 180GB", "B200"},
		{"NVIDIA GH200 480GB", 97871 * mib, "GH200 96GB", "GH200-96GB"},
		{"NVIDIA GH200 144G HBM3e", 146831 * mib, "GH200 144GB", "GH200-144GB"},
		{"NVIDIA A100-SXM4-40GB", 40960 * mib, "A100 SXM 40GB", "A100-SXM-40GB"},
		{"NVIDIA A100-SXM4-80GB", 81920 * mib, "A100 SXM 80GB", "A100-SXM-80GB"},
		{"NVIDIA A100-PCIE-40GB", 40536 * mib, "A100 PCIe 40GB", "A100-PCIe-40GB"},
		{"NVIDIA A100 80GB PCIe", 81920 * mib, "A100 PCIe 80GB", "A100-PCIe-80GB"},
		{"Tesla V100-SXM2-16GB", 16160 * mib, "V100 SXM 16GB", "V100-SXM-16GB"},
		{"Tesla V100-PCIE-32GB", 32510 * mib, "V100 PCIe 32GB", "V100-PCIe-32GB"},
		{"Tesla T4", 15360 * mib, "T4 16GB", "T4"},
		{"NVIDIA L4", 23034 * mib, "L4 24GB", "L4"},
		{"NVIDIA L40S", 46068 * mib, "L40S 48GB", "L40S"},
		{"NVIDIA A10G", 23028 * mib, "A10G 24GB", "A10G"},
		{"NVIDIA GeForce RTX 4090", 24564 * mib, "RTX-4090 24GB", "RTX-4090"},
		{"NVIDIA GeForce RTX 4090 D", 24564 * mib, "RTX-4090-D 24GB", "RTX-4090-D"},
		{"NVIDIA GeForce RTX 4090 Laptop GPU", 16376 * mib, "RTX-4090 Laptop 16GB", "RTX-4090-Laptop-16GB"},
		{"NVIDIA GeForce RTX 4070 Ti SUPER", 16376 * mib, "RTX-4070-Ti-SUPER 16GB", "RTX-4070-Ti-SUPER-16GB"},
		{"NVIDIA GeForce RTX 3080", 10240 * mib, "RTX-3080 10GB", "RTX-3080-10GB"},
		{"NVIDIA GeForce RTX 3080", 12288 * mib, "RTX-3080 12GB", "RTX-3080-12GB"},
		{"NVIDIA GeForce GTX 1080 Ti", 11178 * mib, "GTX-1080-Ti 11GB", "GTX-1080-Ti-11GB"},
		{"NVIDIA RTX 6000 Ada Generation", 46068 * mib, "RTX-6000-Ada 48GB", "RTX-6000-Ada"},
		{"NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887 * mib, "RTX-PRO-6000 Server 96GB",
			"RTX-PRO-6000-Server-96GB"},
		{"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 97887 * mib, "RTX-PRO-6000 MaxQ 96GB",
			"RTX-PRO-6000-MaxQ-96GB"},
		{"NVIDIA RTX A6000", 46068 * mib, "RTX-A6000 48GB", "RTX-A6000"},
		{"NVIDIA TITAN RTX", 24220 * mib, "TITAN-RTX 24GB", "TITAN-RTX"},
		{"NVIDIA A100-SXM4-40GB MIG 1g.5gb", 4864 * mib, "A100 SXM 40GB MIG 1g.5gb", "A100-SXM-40GB-MIG-1g.5gb"},
		{"NVIDIA H100 80GB HBM3 MIG 1g.10gb", 9856 * mib, "H100 SXM 80GB MIG 1g.10gb", "H100-SXM-MIG-1g.10gb"},
		{"NVIDIA", 0, "NVIDIA", "NVIDIA"},
		{"", 0, "", ""},
	} {
		s := Parse(c.name, c.memory)
		if s.String() != c.full || s.Label() != c.labels {
			t.Errorf("%q with %d MiB is %q, label %q; want %q, %q", c.name, c.memory/mib, s, s.Label(), c.full,
				c.labels)
		}
	}
}

func TestWithoutMemoryTheLabelIsSureOnlyByName(t *testing.T) {
	for name, want := range map[string]bool{
		"NVIDIA A100-SXM4-40GB": true, "NVIDIA H100 80GB HBM3": true, "NVIDIA A100-SXM4-40GB MIG 1g.5gb": true,
		"NVIDIA H100 PCIe": true, "NVIDIA H200": true, "Tesla T4": true, // a T4 exists with only one memory size
		"NVIDIA GeForce RTX 3080": false, "NVIDIA GH200 480GB": false, "NVIDIA A100-PG509-200": false,
	} {
		if s := Parse(name, 0); (s.MemoryGB > 0 || s.MIGProfile != "") != want {
			t.Errorf("the label of %q is sure: want %v", name, want)
		}
	}
}

func TestANameMatchesItsLabelOrItsFamily(t *testing.T) {
	devices := []string{"CPU", "H100-SXM", "H100-PCIe", "H200", "H200-NVL", "A100-SXM-40GB", "A100-SXM-80GB",
		"RTX-4070-12GB",
		"RTX-4070-Ti-12GB", "RTX-4090", "RTX-4090-D", "H100-SXM-MIG-1g.10gb"}
	for name, want := range map[string][]string{
		"H100": {"H100-SXM", "H100-PCIe", "H100-SXM-MIG-1g.10gb"}, "h100-pcie": {"H100-PCIe"}, "H100-SXM": {"H100-SXM"},
		"H200": {"H200"}, "A100": {"A100-SXM-40GB", "A100-SXM-80GB"}, "A100-SXM": {"A100-SXM-40GB", "A100-SXM-80GB"},
		"RTX-4070": {"RTX-4070-12GB"}, "RTX-4090": {"RTX-4090"}, "H10": nil, "H100-": nil, "B200": nil, "": nil,
	} {
		if diff := cmp.Diff(want, DevicesWithName(name, devices)); diff != "" {
			t.Errorf("%q:\n%s", name, diff)
		}
	}
}

func TestIsKnownDevice(t *testing.T) {
	for name, want := range map[string]bool{
		"CPU": true, "H100": true, "h100-sxm": true, "H100-SXM-64GB": true, "A100": true, "A100-SXM-80GB": true,
		"B200": true, "T4": true,
		"RTX-4090": true, "RTX-PRO-6000-Server-96GB": true, "H200-MIG-1g.18gb": true,
		"H1000": false, "H": false, "A100SXM": false, "MI300": false, "GPU": false,
	} {
		if IsKnownDevice(name) != want {
			t.Errorf("%s: known is %v", name, !want)
		}
	}
}

func TestDevicesAreOfAnArchitecture(t *testing.T) {
	for label, want := range map[string]string{
		"CPU": "cpu", "H100-SXM": "hopper", "H200": "hopper", "GH200-480GB": "hopper", "B200": "blackwell",
		"RTX-PRO-6000": "blackwell", "RTX-5090": "blackwell",
		"A100-PCIe-40GB": "ampere", "A10": "ampere", "L4": "ada", "L40S": "ada", "RTX-4090": "ada", "T4": "older",
		"V100-SXM-32GB":             "older",
		"A100-SXM-80GB-MIG-1g.10gb": "ampere", "MI300X": "other", "H2000": "other", "": "other",
	} {
		if got := Architecture(label); got != want {
			t.Errorf("%q is %s, want %s", label, got, want)
		}
	}
}

func TestAFamilyIsAModelInAllItsForms(t *testing.T) {
	for label, want := range map[string]string{
		"H100-SXM": "H100", "H100-PCIe": "H100", "H100-PCIe-MIG-1g.10gb": "H100", "H200": "H200", "H200-NVL": "H200",
		"A100-SXM-80GB":          "A100",
		"RTX-4070-Ti-SUPER-16GB": "RTX-4070-Ti-SUPER", "RTX-6000-Ada": "RTX-6000-Ada", "TITAN-RTX": "TITAN-RTX",
		"T4": "T4", CPU: CPU,
	} {
		if got := Family(label); got != want {
			t.Errorf("%s is of the family %q, want %q", label, got, want)
		}
	}
}
