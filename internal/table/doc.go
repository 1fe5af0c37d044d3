// Package table writes rows as a table for people, as CSV, as JSON or as Markdown, from one list of columns. A
// column has one function for programs and one for people, so all formats have the same values.
package table
