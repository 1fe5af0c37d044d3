// Package archtest holds the module's import rules, as a test that goes over its source.
// Who may import whom, and why, stands in one table (rules_test.go); sizes and package
// comments are checked on the way. It needs neither the network nor a build, and there
// is nothing in it to import.
package archtest
