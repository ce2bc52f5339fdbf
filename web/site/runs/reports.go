package runs

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"warpboard/evaluator/ncu"
	"warpboard/models"
)

const (
	// maxUnpacked bounds a parsed report in bytes; real ones have about one million.
	maxUnpacked = 32 << 20
	// keptReports bounds what the reports that were read last have together, in bytes of JSON; in memory they take some
	// five times as much.
	keptReports = 32 << 20
)

// Report returns the parsed report of a case; nil when there is none. Many readers may have the same one: nobody writes
// into it.
func (s *Runs) Report(p Profile, index int) (*ncu.Report, error) {
	artifact, ok := p.files[reportName(index)]
	if !ok {
		return nil, nil
	}
	if report := s.reports.get(artifact.Hash); report != nil {
		return report, nil
	}
	report, size, err := s.readReport(artifact)
	if err != nil {
		return nil, fmt.Errorf("read %s of run %d: %w", artifact.Name, p.Run.ID, err)
	}
	report.Index()
	s.reports.put(artifact.Hash, report, size)
	return report, nil
}

func (s *Runs) readReport(artifact models.Artifact) (*ncu.Report, int64, error) {
	f, err := s.Store.OpenArtifact(s.Requests, artifact)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, 0, err
	}
	in, report := &io.LimitedReader{R: z, N: maxUnpacked}, &ncu.Report{}
	err = json.NewDecoder(in).Decode(report)
	return report, maxUnpacked - in.N, err
}

// reportCache keeps the reports that were asked for last, by their hash: reading one takes longer than the page that
// shows it. It may be used by many requests at once.
type reportCache struct {
	mu   sync.Mutex
	kept []keptReport // the last that was asked for first
}

type keptReport struct {
	hash   string
	report *ncu.Report
	size   int64
}

func (c *reportCache) get(hash string) *ncu.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.kept, func(k keptReport) bool { return k.hash == hash })
	if i < 0 {
		return nil
	}
	found := c.kept[i]
	copy(c.kept[1:i+1], c.kept[:i])
	c.kept[0] = found
	return found.report
}

func (c *reportCache) put(hash string, report *ncu.Report, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(c.kept, func(k keptReport) bool { return k.hash == hash }) {
		return // two readers missed it at once
	}
	c.kept = slices.Insert(c.kept, 0, keptReport{hash, report, size})
	whole := int64(0)
	for i, k := range c.kept {
		if whole += k.size; whole > keptReports && i > 0 {
			c.kept = slices.Delete(c.kept, i, len(c.kept))
			return
		}
	}
}

// WithoutSource is a report without what shows the program itself.
func WithoutSource(report *ncu.Report) *ncu.Report {
	shown := *report
	shown.Kernels = slices.Clone(report.Kernels)
	for i := range shown.Kernels {
		shown.Kernels[i].Source = nil
	}
	return &shown
}
