package main

import (
	"testing"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// TestPlannedEnd: silence after the planned end of the last host is no alert.
func TestPlannedEnd(t *testing.T) {
	start := at("2026-11-21T03:20:00Z")
	runtime := mapping.FioInfo{Options: map[string]string{"runtime": "1m"}}
	for name, test := range map[string]struct {
		run  mapping.Run
		want time.Time
	}{
		"unknown":      {mapping.Run{}, time.Time{}},
		"option":       {mapping.Run{Fio: runtime}, start.Add(time.Minute)},
		"CBT":          {mapping.Run{CBT: mapping.CBT{RunSeconds: 30}}, start.Add(30 * time.Second)},
		"several":      {mapping.Run{Fio: runtime, Hosts: []mapping.RunHost{{Start: start}, {Start: start.Add(3 * time.Second)}}}, start.Add(63 * time.Second)},
		"a host alone": {mapping.Run{Fio: runtime, Hosts: []mapping.RunHost{{}}}, start.Add(time.Minute)},
	} {
		test.run.Run.Start = start
		if got := plannedEnd(&test.run); !got.Equal(test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
