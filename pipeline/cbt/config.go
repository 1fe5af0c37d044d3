package cbt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/fio2es/fio2es/pipeline/source"
)

// Configs are CBT's YAML files of a run.
type Configs struct {
	Config        *source.File // benchmark_config.yaml, nil where there is none
	ArchiveConfig *source.File // cbt_config.yaml, likewise

	expected string // path of benchmark_config.yaml in CBT's layout, else ""
	modeSize bool   // see [place]
}

// Configure reads the run's configuration files and completes its settings; what the
// path says stands. It gives the whole configuration with dotted names, for searching.
// With an error it gives what could be read; the settings of the path are there anyway.
func (r *Run) Configure(ctx context.Context) (map[string]any, error) {
	flat := flattener{into: map[string]any{}}
	var errs []error
	switch {
	case r.Config != nil:
		m, err := readYAML(ctx, r.Config)
		errs = append(errs, err, flat.file(r.Config.Name(), "", m))
		r.fill(cluster(m), r.modeSize)
	case r.expected != "":
		errs = append(errs, fmt.Errorf("read %s: %w", r.expected, fs.ErrNotExist))
	}
	if r.ArchiveConfig != nil {
		m, err := readYAML(ctx, r.ArchiveConfig)
		c := mapping(m["cluster"])
		errs = append(errs, err, flat.file(r.ArchiveConfig.Name(), "cbt", c))
		r.fillCluster(c)
	}
	return flat.into, errors.Join(errs...)
}

// cluster is the flat configuration in benchmark_config.yaml, which has it under one key.
func cluster(m map[string]any) map[string]any {
	if c := mapping(m["cluster"]); c != nil {
		return c
	}
	return m
}
