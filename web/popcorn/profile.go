package popcorn

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"

	"warpboard/evaluator/job"
	"warpboard/views"
	"warpboard/web/site/runs"
)

const (
	profilerName = "Nsight Compute"
	// maxTraceBytes limits the compressed report files in one result, in bytes. Files beyond the limit are replaced by
	// their URLs.
	maxTraceBytes = 16 << 20
)

// reportPacker packs the report files of one result.
type reportPacker struct {
	runs      *runs.Runs
	profile   runs.Profile
	bytesLeft int64 // remaining bytes
}

// addProfile adds the cases of a run in mode profile to its result, each as one stage.
func (p *Popcorn) addProfile(e runWithResults, full *fullResult) error {
	if e.Mode != job.ModeProfile {
		return nil
	}
	cases, t := e.profile.Cases, &reportPacker{p.runs, e.profile, maxTraceBytes}
	if len(cases) == 0 {
		cases = []job.CaseResult{{SpecLine: "no case was profiled"}}
	}
	for i, c := range cases {
		one, err := p.profiledCase(e, t, c)
		if err != nil {
			return err
		}
		if i == 0 {
			one.addOutput(e.stages.ranStages(e.Mode))
		}
		full.Runs[fmt.Sprintf("profile.%d", c.Index)] = one
	}
	return nil
}

// addOutput adds the output of the profiled program, or of the compiler.
func (r *evalResult) addOutput(tried []job.StageResult) {
	for _, stage := range tried {
		r.Start, r.End, r.Run.Stdout, r.Run.Stderr = stage.StartedAt, stage.EndedAt, stage.Stdout, stage.Stderr+r.Run.Stderr
	}
}

// profiledCase returns one case of a profile: its report as text, and ncu's report file.
func (p *Popcorn) profiledCase(e runWithResults, t *reportPacker, c job.CaseResult) (evalResult, error) {
	text, err := t.reportText(c.Index)
	if err != nil {
		return evalResult{}, err
	}
	one := evalResult{Compilation: e.compilation(), Profile: &profileResult{Profiler: profilerName}, Run: &runResult{
		Success: c.Status == job.StatusPass, Passed: c.Status == job.StatusPass,
		// The count must be a number: popcorn-cli shows no report if it is a string.
		Result: map[string]any{"benchmark-count": 1, "benchmark.0.spec": c.SpecLine, "benchmark.0.report": base64.StdEncoding.EncodeToString([]byte(text))},
	}}
	if !one.Run.Success {
		one.Run.Stderr = text
	}
	file, kept := t.profile.ReportFile(c.Index)
	if !kept {
		return one, nil
	}
	one.Profile.DownloadURL = fmt.Sprintf("%s%s.ncu-rep?case=%d", p.site.Settings.BaseURL, views.ProfileURL(e.SubmissionID, e.ID), c.Index)
	if c.Index == file.FirstCase { // several cases may share a report file: send it only with the first
		one.Profile.Trace, err = t.trace(file, text)
	}
	return one, err
}

// reportText returns the report of a case, or the reason why there is none.
func (t *reportPacker) reportText(index int) (string, error) {
	report, err := t.runs.ParsedReport(t.profile, index)
	if err != nil {
		return "", err
	}
	if report == nil {
		return t.profile.MissingReason(index), nil
	}
	var b bytes.Buffer
	report.WriteText(&b)
	return b.String(), nil
}

// trace returns a zip with a report file and the text of its first case, or nil if it exceeds the limit.
func (t *reportPacker) trace(file runs.ReportFile, text string) ([]byte, error) {
	if file.Size > t.bytesLeft {
		return nil, nil
	}
	t.bytesLeft -= file.Size
	content, err := t.runs.OpenArtifact(file.Artifact, true)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	data, err := io.ReadAll(content)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	if err := addGzipToZip(z, fmt.Sprintf("profile.%d-%d.ncu-rep", file.FirstCase, file.LastCase), data, content.Gzip); err != nil {
		return nil, err
	}
	if err := addGzipToZip(z, "ncu-details.txt", []byte(text), false); err != nil {
		return nil, err
	}
	err = z.Close()
	return packed.Bytes(), err
}

// gzipTrailerBytes is the size of a gzip file's trailer, a checksum and a length.
const gzipTrailerBytes = 8

// addGzipToZip adds a gzip file to a zip without recompressing it, because both use the same compression. Recompressing
// takes seconds.
func addGzipToZip(z *zip.Writer, name string, data []byte, packed bool) error {
	head := &zip.FileHeader{Name: name, Method: zip.Deflate}
	create := z.CreateHeader
	if body, ok := deflateData(data); packed && ok {
		tail := data[len(data)-gzipTrailerBytes:]
		data = body
		head.CRC32, head.UncompressedSize64 = binary.LittleEndian.Uint32(tail), uint64(binary.LittleEndian.Uint32(tail[4:]))
		head.CompressedSize64, create = uint64(len(data)), z.CreateRaw
	}
	entry, err := create(head)
	if err == nil {
		_, err = entry.Write(data)
	}
	return err
}

// deflateData returns the compressed data of a gzip file, between its header and its trailer. ok is false if the data
// is not a complete gzip file.
func deflateData(data []byte) (body []byte, ok bool) {
	rest := bytes.NewReader(data)
	if _, err := gzip.NewReader(rest); err != nil || rest.Len() < gzipTrailerBytes {
		return nil, false
	}
	return data[len(data)-rest.Len() : len(data)-gzipTrailerBytes], true
}
