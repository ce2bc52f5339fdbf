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

// ParsedReport returns the parsed report of a case, or nil. All callers share the report and must not modify it. At
// most one report per CPU core is parsed at a time.
func (s *Runs) ParsedReport(p Profile, index int) (*ncu.Report, error) {
	artifact, ok := p.files[reportName(index)]
	if !ok {
		return nil, nil
	}
	if report, ok := s.reportCache.Get(artifact.Hash); ok {
		return report, nil
	}
	s.readPermits <- struct{}{}
	defer func() { <-s.readPermits }()
	if report, ok := s.reportCache.Get(artifact.Hash); ok { // another goroutine has parsed the report by now
		return report, nil
	}
	report, size, err := s.readReport(artifact)
	switch {
	case errors.Is(err, ncu.ErrUnreadable):
		return nil, damagedFileError(artifact, err)
	case err != nil:
		return nil, fmt.Errorf("read %s of run %d: %w", artifact.Name, p.Run.ID, err)
	}
	report.IndexMetrics()
	s.reportCache.Put(artifact.Hash, report, size)
	return report, nil
}

func (s *Runs) readReport(artifact work.Artifact) (*ncu.Report, int64, error) {
	f, err := s.site.Store.Work.OpenArtifact(s.site.RequestContext, artifact)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ncu.ErrUnreadable, err)
	}
	return ncu.DecodeReport(z)
}

// ReportForViewer returns the report of a case, without the submitted program if the viewer may not see the source.
func (s *Runs) ReportForViewer(seen SubmissionAccess, p Profile, index int) (*ncu.Report, error) {
	report, err := s.ParsedReport(p, index)
	if report != nil && !seen.MaySeeSource {
		report = report.HideProgram()
	}
	return report, err
}
