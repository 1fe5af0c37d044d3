package safeyaml

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a mapping", "a: 1\nb: [x, y]\n", "map[a:1 b:[x y]]"},
		{"an alias", "a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}\n", "map[a:map[x:1] b:map[x:1] c:map[x:1 y:2]]"},
		{"nothing", "# nothing\n", "<nil>"},
		{"more documents", "a: 1\n---\nb: 2\n", "map[a:1] and more"},
		{"a second one that is wrong", "a: 1\n---\nb: [\n", "map[a:1] and more"},
		{"long", strings.Repeat("#", 200<<10), "too much YAML: longer than 131072 bytes"},
		{"aliases", "a: &a " + strings.Repeat("x", 1000) + "\nb: [" + strings.Repeat("*a, ", 5000) + "]", "line 1: too much YAML: with each use of an alias it becomes too large"},
		{"many keys", manyKeys(9000), "line 1: too much YAML: with each use of an alias it becomes too large"},
		{"a key twice", "a: 1\nb: 2\na: 3\n", `line 3: the key "a" is there already, in line 1`},
		{"an alias of itself", "a: &a [x, *a]", "line 1: too much YAML: with each use of an alias it becomes too large"},
		{"a password that looks like an alias", "password: *hunter2", "a value that begins with * is an alias, and there is no such anchor: quote the value"},
		{"no YAML", "a: [", "yaml: line 1: did not find expected node content"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			node, more, err := Parse([]byte(tt.text))
			var v any
			if err == nil && node != nil {
				err = node.Decode(&v)
			}
			got := fmt.Sprint(v)
			switch {
			case err != nil:
				got = err.Error()
			case more:
				got += " and more"
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	return b.String()
}

// FuzzParse: an accepted text does not become large when it is decoded.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"a: &a [x]\nb: *a", "{<<: {a: 1}}", "? [a]\n: b", "--- a\n--- b", "a: !!binary aGk=", "%TAG ! x\n---\na"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		node, _, err := Parse([]byte(text))
		if err != nil || node == nil {
			return
		}
		var v any
		if node.Decode(&v) == nil && len(fmt.Sprint(v)) > 16<<20 {
			t.Fatalf("%q becomes too large", text)
		}
	})
}

func TestHide(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "keyring: /etc/ceph/k\nkey_size: 4\nmode: [read, write]\nn: 1\nwhen: 2026-01-02\n", "map[key_size:4 keyring:/etc/ceph/k mode:[read write] n:1 when:2026-01-02 00:00:00 +0000 UTC]"},
		{"at any depth", "a: {b: [{Password: x, user: me}]}\n", "map[a:map[b:[map[Password:*** user:me]]]]"},
		{"of any type", "password: 12\ntoken: true\nsecret: 2026-01-02\nkey: !!binary aGk=\npwd: !!float 1\n", "map[key:*** password:*** pwd:*** secret:*** token:***]"},
		{"empty", "password:\ntoken: ''\n", "map[password:<nil> token:]"},
		{"below", "credentials: {user: me, list: [x, {y: z}]}\n", "map[credentials:map[list:[*** map[y:***]] user:***]]"},
		{"aliases", "a: &p x\npassword: *p\nb: &q {c: y}\ntoken: *q\n", "map[a:*** b:map[c:***] password:*** token:map[c:***]]"},
		{"merged", "a: &a {password: x}\nb: {<<: *a, n: 1}\n", "map[a:map[password:***] b:map[n:1 password:***]]"},
		{"in values", "url: http://me:x@host/\ncmd: fio --http_pass=x\nauth: user=me;password=x;n=1\n", "map[auth:user=me;password=***;n=1 cmd:fio --http_pass=*** url:http://me:***@host/]"},
		{"in keys", "nodes: {'http://me:x@host': 1}\n", "map[nodes:map[http://me:***@host:1]]"},
		{"a key that is an alias", "a: &k password\n*k : x\n", "map[a:password password:***]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			node, _, err := Parse([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			Hide(node)
			var v any
			if err := node.Decode(&v); err != nil || fmt.Sprint(v) != tt.want {
				t.Errorf("%v %v, want %s", v, err, tt.want)
			}
		})
	}
}
