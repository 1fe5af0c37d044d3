//go:build linux

package fiomatrix

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
)

// fioReport has the used parts of fio's JSON.
type fioReport struct {
	TimestampMS int64       `json:"timestamp_ms"`
	Jobs        []fioResult `json:"jobs"`
	Clients     []fioResult `json:"client_stats"`
}

type fioResult struct {
	Name              string `json:"jobname"`
	Read, Write, Trim struct {
		TotalIOs int64 `json:"total_ios"`
	}
}

// readReports records when a process wrote reports, and the counts of the last one.
func (p *process) readReports() {
	text, err := os.ReadFile(filepath.Join(p.dir, p.report))
	if err != nil || p.report == "" {
		return
	}
	if info, err := os.Stat(filepath.Join(p.dir, p.report)); err == nil {
		p.reported = info.ModTime().UnixMilli()
	}
	for len(text) > 0 {
		if at := bytes.Index(text, []byte("{\n")); at < 0 {
			return
		} else {
			text = text[at:]
		}
		var r fioReport
		in := json.NewDecoder(bytes.NewReader(text))
		if in.Decode(&r) != nil {
			return
		}
		text = text[in.InputOffset():]
		p.reports = append(p.reports, r.TimestampMS)
		p.counted = [3]int64{}
		for _, x := range append(r.Jobs, r.Clients...) {
			if x.Name != "All clients" {
				p.counted[0] += x.Read.TotalIOs
				p.counted[1] += x.Write.TotalIOs
				p.counted[2] += x.Trim.TotalIOs
			}
		}
	}
}
