package runs

import (
	"compress/gzip"
	"errors"
	"fmt"

	"warpboard/evaluator/ncu"
	"warpboard/models/work"
)

// keptReports bounds what the reports that were read last have together, in bytes of JSON; in memory they take some ten times as
// much. Reading one takes longer than the page that shows it.
const keptReports = 32 << 20

// Report returns the parsed report of a case; nil when there is none. Many readers may have the same one: no one writes
// into it. As many are read at once as there are cores.
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
	if report, ok := s.reports.Get(artifact.Hash); ok { // others have waited for the same
		return report, nil
	}
	report, size, err := s.readReport(artifact)
	switch {
	case errors.Is(err, ncu.ErrUnreadable):
		return nil, damaged(artifact, err)
	case err != nil:
		return nil, fmt.Errorf("read %s of run %d: %w", artifact.Name, p.Run.ID, err)
	}
	report.Index()
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

// SeenReport is Report, as far as the viewer may see the run's program.
func (s *Runs) SeenReport(seen Access, p Profile, index int) (*ncu.Report, error) {
	report, err := s.Report(p, index)
	if report != nil && !seen.MaySeeSource {
		report = report.Nameless()
	}
	return report, err
}
