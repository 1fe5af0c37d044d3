package report

import (
	_ "embed"
	"html/template"
)

//go:embed live.js
var liveJS string

// reload is for browsers without scripts.
const reload = `<noscript><meta http-equiv="refresh" content="10"></noscript>`

// Live returns the script of a page with live runs, which must be the last element of its body. The script loads the
// page again every two seconds and replaces what differs. It stops when the loaded page no longer has this script.
func Live() template.HTML { return template.HTML(`<script id="live">` + liveJS + `</script>`) }

// LivePolicy returns the source expression of this script for script-src in a content security policy.
func LivePolicy() string { return HashOf(liveJS) + "; connect-src 'self'" }
