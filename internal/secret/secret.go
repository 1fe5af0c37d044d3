// Package secret decides which settings are secrets: options of fio and of CBT, by their names, and passwords within
// other values, such as addresses. What reads settings hides them here, so that nothing behind it has them to store or show.
package secret

import (
	"slices"
	"strings"
	"unicode"

	"github.com/fio2es/fio2es/internal/late"
)

// Hidden stands for a secret. The name of the setting stays, so that people see that it was set.
const Hidden = "***"

// named are words in the names of secrets, also at the end of a longer word: dbpassword.
var named = []string{"password", "passwords", "passwd", "passphrase", "secret", "secrets", "token", "tokens", "credential", "credentials", "authorization", "apikey"}

// last are words with which the names of secrets end. Elsewhere they are parts of other names: key_size, pass_count.
var last = []string{"key", "pass", "pwd", "pw", "psk", "signature", "sig"}

// about are words with which names end that describe a secret or say where it is.
var about = []string{
	"file", "path", "dir", "folder", "ring", "name", "id", "ids", "size", "sizes", "length", "len", "bits", "bytes", "count", "num", "type", "algorithm", "alg",
	"format", "mode", "ttl", "timeout", "interval", "rate", "expiry", "enabled",
}

// IsName reports whether a setting of this name is a secret.
func IsName(name string) bool {
	lower := strings.ToLower(name)
	if !slices.ContainsFunc([]string{"pass", "secret", "token", "key", "cred", "pw", "psk", "sig", "auth"}, func(part string) bool { return strings.Contains(lower, part) }) {
		return false // most names, of which a long run has millions
	}
	words := wordsOf(name)
	end := words[len(words)-1]
	switch {
	case slices.Contains(about, end), slices.Contains([]string{"max", "min", "num"}, words[0]):
		return false
	case slices.Contains(last, end):
		return true
	case end == "keys": // of a database they are a number
		return len(words) > 1 && slices.Contains([]string{"api", "access", "auth", "private", "ssh"}, words[len(words)-2])
	}
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(named, func(end string) bool { return strings.HasSuffix(word, end) })
	})
}

// wordsOf splits a name at all that is neither a letter nor a digit, and before capitals: secretKey, SECRET_KEY. There is
// at least one word.
func wordsOf(name string) []string {
	var b strings.Builder
	before := ' '
	for _, r := range name {
		switch isPart := unicode.IsLetter(r) || unicode.IsDigit(r); {
		case !isPart:
			b.WriteByte(' ')
		case unicode.IsUpper(r) && unicode.IsLower(before):
			b.WriteByte(' ')
			fallthrough
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		before = r
	}
	if words := strings.Fields(b.String()); len(words) > 0 {
		return words
	}
	return []string{""}
}

// Value returns the value of a setting as it may be stored and shown.
func Value(name, value string) string {
	if value != "" && IsName(name) {
		return Hidden
	}
	return Text(value)
}

var (
	// pair is a setting within a text: password=x, "token": "x", --secret-key x. Its name is checked again. A colon without a
	// blank or a quote is in lists of files and in addresses.
	pair = late.Regexp(`(?i)(--?)?([\w.-]*(?:` + strings.Join(slices.Concat(named, last, []string{"keys"}), "|") + `))` +
		`(["']?\s*=\s*|["']\s*:\s*|:\s+|\s+)((?:basic|bearer|apikey)\s+)?("(?:\\.|[^"\\])*"?|'[^']*'?|[^\s;&"']+)`)
	// userOfCurl is the user and the password of curl and its like: -u me:x.
	userOfCurl = late.Regexp(`((?:^|\s)(?:-u|--user|--proxy-user)[\s=]+["']?[^\s:"'/]+):[^\s"']+`)
	// scheme begins an address. In names of files fio wants a backslash before the colon.
	scheme = late.Regexp(`[A-Za-z][A-Za-z0-9+.-]*\\?://`)
)

// Text returns a text without the passwords in it: of addresses, and those behind names such as password=.
func Text(text string) string {
	if !strings.ContainsAny(text, "=: \t\n") {
		return text
	}
	if strings.Contains(text, "://") {
		text = withoutUsers(text)
	}
	text = pair().ReplaceAllStringFunc(text, func(found string) string {
		part := pair().FindStringSubmatch(found)
		dashes, name, between, kind, value := part[1], part[2], part[3], part[4], part[5]
		isWord, isObject := strings.TrimSpace(between) == "", strings.Contains(between, ":") && strings.Contains("{[", value[:1])
		if !IsName(name) || isObject || isWord && (dashes == "" || strings.HasPrefix(value, "-")) {
			return found
		}
		if quote := value[:1]; quote == `"` || quote == "'" {
			return dashes + name + between + kind + quote + Hidden + quote
		}
		return dashes + name + between + kind + Hidden
	})
	return userOfCurl().ReplaceAllString(text, "$1:"+Hidden)
}

// withoutUsers hides the passwords of the users in addresses: https://user:password@host, and iscsi://user%password@host.
func withoutUsers(text string) string {
	var b strings.Builder
	for {
		at := scheme().FindStringIndex(text)
		if at == nil {
			b.WriteString(text)
			return b.String()
		}
		rest := text[at[1]:]
		end := len(rest)
		if i := strings.IndexAny(rest, " \t\n\"'"); i >= 0 {
			end = i
		}
		b.WriteString(text[:at[1]])
		user, after := userIn(rest[:end])
		by := ":%"
		if !strings.HasPrefix(text[at[0]:], "iscsi") {
			by = ":"
		}
		if i := strings.IndexAny(user, by); i >= 0 && i+1 < len(user) {
			user = user[:i+1] + Hidden
		}
		b.WriteString(user)
		text = after + rest[end:]
	}
}

// userIn cuts an address without its scheme before the "@" behind its user and password; without them user is empty. A
// password that should be escaped may have a slash.
func userIn(address string) (user, after string) {
	host := address
	if i := strings.IndexAny(address, "/?#"); i >= 0 {
		host = address[:i]
	}
	at := strings.LastIndexByte(host, '@')
	if _, port, ok := strings.Cut(host, ":"); at < 0 && ok && strings.Trim(port, "0123456789") != "" && address[0] != '[' {
		at = strings.LastIndexByte(address, '@')
	}
	if at < 0 {
		return "", address
	}
	return address[:at], address[at:]
}
