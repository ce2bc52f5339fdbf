package operation_test

import (
	"net/http"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// copiedKernel is a template of a kernel. Tests replace its uppercase names, as a person does who copies a kernel.
const copiedKernel = `__global__ void NAME(const float* X, const float* Y, float* Z, int N) {
    __shared__ float TILE[32][33];
    int ROW = blockIdx.y * 32 + threadIdx.y, COL = blockIdx.x * 32 + threadIdx.x;
    float ACC = 0.0f;
    for (int STEP = 0; STEP < N; STEP += 32) {
        TILE[threadIdx.y][threadIdx.x] = X[ROW * N + STEP + threadIdx.x];
        __syncthreads();
        for (int I = 0; I < 32; I++) ACC += TILE[threadIdx.y][I] * Y[(STEP + I) * N + COL];
        __syncthreads();
    }
    if (ROW < N && COL < N) Z[ROW * N + COL] = ACC;
}
output_t custom_kernel(input_t data) {
    dim3 GRID((data.n + 31) / 32, (data.m + 31) / 32), BLOCK(32, 32);
    NAME<<<GRID, BLOCK>>>(data.a.data(), data.b.data(), data.out.data(), data.k);
    return data.out;
}
`

func named(names ...string) string {
	return strings.NewReplacer(names...).Replace(copiedKernel)
}

// TestModeratorsSeeSimilarSourcesOfDifferentPeople checks the list of similar sources, which only moderators may see.
func TestModeratorsSeeSimilarSourcesOfDifferentPeople(t *testing.T) {
	s := webtest.NewScene(t)
	mallory := modelstest.Person(t, s.Cfg.Store, "Mallory", accounts.RoleUser)
	first := s.Submit(s.Ada, "H200", named("ROW", "r", "COL", "c"))
	s.Finish(first, 5e3)
	copied := s.Submit(mallory, "H200", named("NAME", "fast_mm", "TILE", "smem", "ROW", "i", "COL", "j", "    ", "\t")+
		"// my own work\n")
	s.Finish(copied, 4e3)
	path := "/tasks/" + s.Task.Slug + "/similar"
	doc := s.BrowserOf(s.Admin).Page(path, http.StatusOK)
	rows := doc.Find("[data-pair]")
	if rows.Length() != 1 {
		t.Fatalf("%d pairs: %s", rows.Length(), doc.Find("main").Text())
	}
	for _, want := range []string{s.Ada.Name, "Mallory", " %"} {
		webtest.WantText(t, doc, "[data-pair]", want)
	}
	if first, second := rows.Find("td").Eq(1).Text(),
		rows.Find("td").Eq(2).Text(); !strings.Contains(first, s.Ada.Name) || !strings.Contains(second, "Mallory") {
		t.Errorf("first %q, later %q", first, second)
	}
	s.BrowserOf(s.Admin).Page(rows.Find("a:contains('Compare')").AttrOr("href", ""), http.StatusOK)
	for name, b := range map[string]*webtest.Browser{"the copier": s.BrowserOf(mallory),
		"another person": s.BrowserOf(s.Ada)} {
		if resp := b.Get(path); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s gets %s", name, resp.Status)
		}
	}
	webtest.WantText(t, s.BrowserOf(s.Admin).Page("/review?task="+s.Task.Slug, http.StatusOK),
		"main a[href$='/similar']", "Similar sources")

	w := s.Window().As(s.BrowserOf(s.Admin))
	w.Visit(path)
	w.LooksRight("similar")
}
