// Package archtest checks the module's source. It has only tests. One table says which package may import which, and
// why (rules_test.go). Other tests check comments and words. They need neither the network nor a build.
package archtest
