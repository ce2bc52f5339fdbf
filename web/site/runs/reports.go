package runs

import (
	"compress/gzip"
	"errors"
	"fmt"

	"warpboard/evaluator/ncu"
	"warpboard/models/work"
)

// maxCachedReports limits the cached reports, in bytes of JSON. In memory they take about ten times as much. Parsing a
// report takes longer than rendering its page.
const maxCachedReports = 32 << 20

// Report returns the parsed report of a case, or nil. All callers share the report and must not modify it. At most one
// report per CPU core is parsed at a time.
func (s *Runs) Report(p Profile, index int) (*ncu.Report, error) {
	artifact, ok := p.files[reportName(index)]
	if !ok {
		return nil, nil
	}
	if report, ok := s.reports.Get(artifact.Hash); ok {
		return report, nil
	}
	s.reading <- struct{}{}
	defer func() { <-s.reading }()
	if report, ok := s.reports.Get(artifact.Hash); ok { // another reader has parsed it in the meantime
		return report, nil
	}
	report, size, err := s.readReport(artifact)
	switch {
	case errors.Is(err, ncu.ErrUnreadable):
		return nil, damagedError(artifact, err)
	case err != nil:
		return nil, fmt.Errorf("read %s of run %d: %w", artifact.Name, p.Run.ID, err)
	}
	report.IndexMetrics()
	s.reports.Put(artifact.Hash, report, size)
	return report, nil
}

func (s *Runs) readReport(artifact work.Artifact) (*ncu.Report, int64, error) {
	f, err := s.site.Store.Work.OpenArtifact(s.site.Requests, artifact)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ncu.ErrUnreadable, err)
	}
	return ncu.Decode(z)
}

// VisibleReport returns the report of a case, without the submitted program if the viewer may not see the source.
func (s *Runs) VisibleReport(seen Access, p Profile, index int) (*ncu.Report, error) {
	report, err := s.Report(p, index)
	if report != nil && !seen.MaySeeSource {
		report = report.WithoutProgram()
	}
	return report, err
}
