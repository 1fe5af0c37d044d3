// Package archtest checks the module's source, in tests. One table says which package may
// import which, and why (rules_test.go). Other tests check sizes, comments and words. They
// need neither the network nor a build. There is nothing to import.
package archtest
