// Package junit writes test reports in the XML format of JUnit, which CI systems show. Each check of a run is a test
// case.
package junit

import (
	"encoding/xml"
	"io"
)

// Suite is a list of test cases.
type Suite struct {
	Name  string
	Cases []Case
}

// Result is the result of a test case.
type Result int

// The results.
const (
	Passed  Result = iota
	Failed         // the condition is not met
	Errored        // the check could not be done
	Skipped        // the check was done, but its result is unknown
)

// Case is a test case.
type Case struct {
	Class, Name string
	Result      Result
	Text        string // message of the result; for a passed case, its output
}

// The elements, as encoding/xml writes them.
type (
	report struct {
		XMLName xml.Name `xml:"testsuites"`
		counts
		Suite suite `xml:"testsuite"`
	}
	suite struct {
		Name string `xml:"name,attr"`
		counts
		Cases []testCase `xml:"testcase"`
	}
	counts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	testCase struct {
		Class   string   `xml:"classname,attr"`
		Name    string   `xml:"name,attr"`
		Failure *message `xml:"failure"`
		Error   *message `xml:"error"`
		Skipped *message `xml:"skipped"`
		Output  string   `xml:"system-out,omitempty"`
	}
	message struct {
		Text string `xml:"message,attr"`
	}
)

// Write writes the report of a suite.
func Write(w io.Writer, s Suite) error {
	of := suite{Name: s.Name}
	of.Tests = len(s.Cases)
	for _, c := range s.Cases {
		one := testCase{Class: c.Class, Name: c.Name}
		switch text := (&message{c.Text}); c.Result {
		case Failed:
			of.Failures++
			one.Failure = text
		case Errored:
			of.Errors++
			one.Error = text
		case Skipped:
			of.Skipped++
			one.Skipped = text
		default:
			one.Output = c.Text
		}
		of.Cases = append(of.Cases, one)
	}
	text, _ := xml.MarshalIndent(report{counts: of.counts, Suite: of}, "", "  ") // cannot fail: it has texts and numbers
	_, err := io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}
