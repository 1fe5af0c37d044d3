// Package web serves a history to browsers: a list of runs with search and sorting, the report of each run, and
// reports that compare several runs. It reads the history and never writes.
//
// Pages are complete HTML. They run only their own script and load nothing from other hosts; a content security
// policy enforces this. Texts in documents are not trusted and pass through html/template. There is no login:
// everyone who can reach the address can read the history. Links in pages are relative, so a proxy may serve them
// below another path.
package web
