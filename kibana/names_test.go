package kibana_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/mapping"
)

var (
	storedPercentile = regexp.MustCompile(`latency\.(p\d+(?:_\d+)?)\b`)
	askedPercents    = regexp.MustCompile(`"percents": (\[[^\]]*\])`)
)

// TestPercentilesOfDocuments: panels read the percentiles that documents have, and the panel of percentiles over
// time computes the same ones.
func TestPercentilesOfDocuments(t *testing.T) {
	found := storedPercentile.FindAllStringSubmatch(ndjson(t, bundle(t, kibana.Options{})), -1)
	if len(found) < 20 {
		t.Fatalf("only %d percentiles in all panels", len(found))
	}
	for _, f := range found {
		if !slices.ContainsFunc(mapping.Percentiles[:], func(p mapping.Percentile) bool { return p.Field == f[1] }) {
			t.Errorf("a panel reads %s, which documents do not have", f[0])
		}
	}
	var ranks []float64
	for _, list := range askedPercents.FindAllSubmatch(bundle(t, kibana.Options{}).Specs["percentiles"], -1) {
		if err := json.Unmarshal(list[1], &ranks); err != nil {
			t.Fatal(err)
		}
	}
	if len(ranks) == 0 {
		t.Fatal("the panel computes no percentiles")
	}
	for _, rank := range ranks {
		if !slices.ContainsFunc(mapping.Percentiles[:], func(p mapping.Percentile) bool { return p.Rank == rank }) {
			t.Errorf("the panel computes p%v, which documents do not have", rank)
		}
	}
}
