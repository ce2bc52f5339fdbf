package likeness

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/e2e/fuzztest"
)

const tiled = `#include <cuda_runtime.h>
// A tile of 64 by 64.
__global__ void tile(const float* a, const float* b, float* c, int n) {
    __shared__ float left[64][17], right[16][65];
    int row = blockIdx.y * 64 + threadIdx.y, col = blockIdx.x * 64 + threadIdx.x;
    float sum[4][4] = {};
    for (int k = 0; k < n; k += 16) {
        left[threadIdx.y][threadIdx.x & 15] = a[row * n + k + (threadIdx.x & 15)];
        right[threadIdx.y & 15][threadIdx.x] = b[(k + (threadIdx.y & 15)) * n + col];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            for (int x = 0; x < 4; x++)
                for (int y = 0; y < 4; y++) sum[x][y] += left[threadIdx.y + 16 * x][i] * right[i][threadIdx.x + 16 * y];
        __syncthreads();
    }
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < 4; y++) c[(row + 16 * x) * n + col + 16 * y] = sum[x][y];
}
`

// renamed returns a source with other names, comments, and layout.
func renamed(source string) string {
	for old, now := range map[string]string{"left": "sA", "right": "sB", "sum": "acc", "row": "r", "col": "column",
		"tile": "gemm"} {
		source = strings.ReplaceAll(source, old, now)
	}
	source = strings.ReplaceAll(source, "    ", "\t")
	return strings.ReplaceAll(source, ";\n", "; /* mine */\n\n")
}

const warps = `__global__ void dot(const float* __restrict__ x, const float* __restrict__ y, float* out, int n) {
    float part = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        float4 u = reinterpret_cast<const float4*>(x)[i], v = reinterpret_cast<const float4*>(y)[i];
        part = fmaf(u.x, v.x, fmaf(u.y, v.y, fmaf(u.z, v.z, fmaf(u.w, v.w, part))));
    }
    for (int offset = 16; offset > 0; offset >>= 1) part += __shfl_down_sync(0xffffffff, part, offset);
    if ((threadIdx.x & 31) == 0) atomicAdd(out, part);
}
`

func TestACopyWithOtherNamesIsFoundAndAnotherKernelIsNot(t *testing.T) {
	h := newHasher()
	sources := []Fingerprints{h.FingerprintsOf([]byte(tiled)), h.FingerprintsOf([]byte(warps)), h.FingerprintsOf([]byte(renamed(tiled)))}
	pairs := pairsWithSharedFingerprints(sources, 5)
	if len(pairs) == 0 || pairs[0].FirstIndex != 0 || pairs[0].SecondIndex != 2 ||
		pairs[0].SharedCount < len(sources[0])*9/10 ||
		len(pairs) > 1 && pairs[1].SharedCount > 8 {
		t.Errorf("pairs %+v of %d, %d and %d prints", pairs, len(sources[0]), len(sources[1]), len(sources[2]))
	}
}

func TestCodeOfTheTaskDoesNotCountAsSimilar(t *testing.T) {
	h := newHasher()
	mine, yours := []byte(tiled+"void mine() { int a = 1; }"), []byte(tiled+"void yours() { return; }")
	given := unionOfFingerprints(h.FingerprintsOf([]byte(tiled)), h.FingerprintsOf([]byte(warps)))
	pairs := pairsWithSharedFingerprints([]Fingerprints{h.FingerprintsOf(mine).Subtract(given), h.FingerprintsOf(yours).Subtract(given)}, 5)
	// fingerprints that span the end of the template and the person's own code
	if len(pairs) > 0 && pairs[0].SharedCount > 8 {

		t.Errorf("a shared template makes %+v", pairs)
	}
	var many []Fingerprints
	for i := range 6 {
		many = append(many, h.FingerprintsOf(fmt.Appendf(nil, "%s\nint x%d;", tiled, i)))
	}
	if pairs := pairsWithSharedFingerprints(many, 5); len(pairs) > 0 {
		t.Errorf("what six sources have makes %+v", pairs)
	}
}

func TestAKernelInAStringOfPythonIsCompared(t *testing.T) {
	h := newHasher()
	python := func(kernel string) Fingerprints {
		return h.FingerprintsOf([]byte("import torch\nsrc = \"\"\"\n" + kernel +
			"\n\"\"\"  # a comment\nmodule = load_inline(name='x', cuda_sources=src)\n"))
	}
	if pairs := pairsWithSharedFingerprints([]Fingerprints{python(tiled), h.FingerprintsOf([]byte(renamed(tiled)))}, 5); len(pairs) != 1 ||
		pairs[0].SharedCount < 40 {
		t.Errorf("pairs %+v", pairs)
	}
}

func TestNoSourceCostsMoreThanMilliseconds(t *testing.T) {
	h := newHasher()
	for name, source := range map[string][]byte{
		"one letter": bytes.Repeat([]byte("a "), 500_000), "one word": bytes.Repeat([]byte("a"), 1_000_000),
		"open comments": bytes.Repeat([]byte("/* "), 300_000), "slashes": bytes.Repeat([]byte("/"), 1_000_000),
		"lines": bytes.Repeat([]byte("#\n"), 500_000),
	} {
		costtest.Check(t, name, func() { h.FingerprintsOf(source) })
	}
}

func FuzzOf(f *testing.F) {
	fuzztest.Moment(f)
	f.Add([]byte(tiled))
	f.Add([]byte("/*/ '\"#//"))
	h := newHasher()
	f.Fuzz(func(t *testing.T, source []byte) {
		if prints := h.FingerprintsOf(source); len(prints) > len(source) {
			t.Errorf("%d prints of %d bytes", len(prints), len(source))
		}
	})
}

// TestSimilarPairsOfManyLongSourcesHoldLittle checks the memory for comparing many long sources, because any task
// author can request that, and people choose the sources.
func TestSimilarPairsOfManyLongSourcesHoldLittle(t *testing.T) {
	const sources, each = 200, 14_000 // 200 sources with as many fingerprints as 64 KiB of source have
	prints := make([]Fingerprints, sources)
	next := uint64(1)
	for i := range prints {
		for range each {
			next += 1 + next%977
			prints[i] = append(prints[i], next*0x9e3779b97f4a7c15)
		}
		slices.Sort(prints[i])
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	pairsWithSharedFingerprints(prints, 8)
	runtime.ReadMemStats(&after)
	if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 64 {
		t.Errorf("%d MiB are allocated", made)
	}
}
