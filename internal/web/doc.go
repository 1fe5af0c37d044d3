// Package web serves a history to browsers: a list of its runs to search and sort, the
// report of each, and reports that compare several. It reads and never writes.
//
// Pages are made here and complete: no script but the report's own, nothing from
// elsewhere, and a content security policy that holds browsers to it. Texts of documents are
// not to be trusted and pass html/template. There is no login: whoever reaches the address
// reads the history. Addresses in pages are relative, so that a proxy may put them below a
// path of its own.
package web
