package report

import (
	_ "embed"
	"fmt"
	"html/template"
)

//go:embed live.js
var liveJS string

// reload is for browsers without scripts.
const reload = `<noscript><meta http-equiv="refresh" content="10"></noscript>`

// Live returns the script of a page with live runs, which must be the last element of its body. The script listens
// to server-sent events at an address. After each event it loads the page again and replaces what differs. It stops
// when the loaded page no longer has this script.
func Live(events string) template.HTML {
	return template.HTML(fmt.Sprintf(`<script id="live" data-events="%s">%s</script>`, template.HTMLEscapeString(events), liveJS))
}

// LivePolicy returns the source expression of this script for script-src in a content security policy.
func LivePolicy() string { return HashOf(liveJS) + "; connect-src 'self'" }
