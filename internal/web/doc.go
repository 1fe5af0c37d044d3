// Package web serves a history to browsers: a list of its runs to search and sort, the report of each run, and
// reports that compare several. It reads the history and never writes.
//
// Pages are complete HTML: no script except their own, nothing from other hosts, and a content security policy
// that enforces it. Texts of documents are not trusted and pass through html/template. There is no login: everyone
// who reaches the address reads the history. Addresses in pages are relative, so a proxy may serve them below another
// path.
package web
