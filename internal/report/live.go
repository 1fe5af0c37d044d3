package report

import (
	_ "embed"
	"fmt"
	"html/template"
)

//go:embed live.js
var liveJS string

// reload is for browsers without script.
const reload = `<noscript><meta http-equiv="refresh" content="10"></noscript>`

// Live is the script of a page with live runs, which is the last element of its body. It listens to the server-sent
// events at an address. After each event it loads the page again and replaces what differs, until the page has no such
// script any more.
func Live(events string) template.HTML {
	return template.HTML(fmt.Sprintf(`<script id="live" data-events="%s">%s</script>`, template.HTMLEscapeString(events), liveJS))
}

// LivePolicy is the source of this script for script-src in a content security policy.
func LivePolicy() string { return HashOf(liveJS) + "; connect-src 'self'" }
