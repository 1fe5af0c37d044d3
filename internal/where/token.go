package where

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	end tokenKind = iota
	word
	quoted
	operator // includes parentheses and commas
)

func (t token) describe() string {
	if t.kind == end {
		return "the end"
	}
	return fmt.Sprintf("%q", t.text)
}

// token is a word, a text in quotes, or an operator.
type token struct {
	kind   tokenKind
	text   string
	column int // of its first character, in characters, from 1
	at     int // offset in the condition, in bytes
}

// is reports whether a token is this operator, or this key word in any case.
func (t token) is(text string) bool {
	return t.kind == operator && t.text == text || t.kind == word && strings.EqualFold(t.text, text)
}

// SyntaxError is a mistake in a condition.
type SyntaxError struct {
	Column  int // in characters, from 1
	Problem string
}

// Error implements error.
func (e *SyntaxError) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Problem) }

// operators in the order in which they are tried: "<=" comes before "<".
var operators = []string{"!=", "!~", "<=", ">=", "==", "=", "~", "<", ">", "(", ")", ","}

// tokens splits a condition into tokens. The last token is end.
func tokens(text string) ([]token, error) {
	var list []token
	for at := 0; ; {
		at += len(text[at:]) - len(strings.TrimLeftFunc(text[at:], unicode.IsSpace))
		column := utf8.RuneCountInString(text[:at]) + 1
		if at == len(text) {
			return append(list, token{end, "", column, at}), nil
		}
		next, n := token{column: column, at: at}, 0
		if c := text[at]; c == '"' || c == '\'' {
			close := strings.IndexByte(text[at+1:], c)
			if close < 0 {
				return nil, &SyntaxError{column, fmt.Sprintf("the text that begins here has no closing %c", c)}
			}
			next.kind, next.text, n = quoted, text[at+1:at+1+close], close+2
		} else if op := operatorAt(text[at:]); op != "" {
			next.kind, next.text, n = operator, op, len(op)
		} else {
			n = strings.IndexFunc(text[at:], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`=!~<>(),"'`, r) })
			if n < 0 {
				n = len(text) - at
			}
			if n == 0 {
				return nil, &SyntaxError{column, fmt.Sprintf("%q is no operator: want =, !=, ~, !~, <, <=, > or >=", text[at:at+1])}
			}
			next.kind, next.text = word, text[at:at+n]
		}
		list = append(list, next)
		at += n
	}
}

func operatorAt(text string) string {
	for _, op := range operators {
		if strings.HasPrefix(text, op) {
			return op
		}
	}
	return ""
}
