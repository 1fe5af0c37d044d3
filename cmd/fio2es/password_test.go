package main

import (
	"strings"
	"testing"
)

// TestPasswordInAddress: no form of an address shows its password, also if it cannot be parsed. Not from a flag, and not
// from the environment.
func TestPasswordInAddress(t *testing.T) {
	const secret = "s3cr3tpw"
	t.Setenv("FIO2ES_ELASTICSEARCH_GIVE_UP_AFTER", "0s")
	for _, address := range []string{
		"https://u:" + secret + "\"x@h:9200", "elastic:" + secret + "@host", "https://u:" + secret + "%zz@h", "u:" + secret + "@host:9200",
		"//u:" + secret + "@host:9200", "https:/u:" + secret + "@host", "https:u:" + secret + "@host:9200", "https://u:" + secret + "@host:99999",
		"https://u:" + secret + "@[::1", "https://u:" + secret + "\n@h", "https://u:" + secret + "@h?x", "https://elastic:" + secret,
		"https://u:" + secret + "#x@host:9200", "https://u:" + secret + "/x@host:9200", "http://u:" + secret + "@127.0.0.1:1",
	} {
		calls := []called{call(t, nil, "runs", "--elasticsearch", address), call(t, nil, "setup", "--kibana", address)}
		t.Setenv("FIO2ES_ELASTICSEARCH_ADDRESSES", address)
		calls = append(calls, call(t, nil, "runs"), call(t, nil, "config", "show"), call(t, nil, "config"))
		t.Setenv("FIO2ES_ELASTICSEARCH_ADDRESSES", "")
		for _, c := range calls {
			if strings.Contains(c.stdout+c.stderr, secret) {
				t.Errorf("%q: exit code %d: %s%s", address, c.code, c.stdout, c.stderr)
			}
		}
	}
}
