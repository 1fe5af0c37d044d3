package fioargs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSecrets: the sections of a command and its words for people have no secrets; the words to run have them.
func TestSecrets(t *testing.T) {
	t.Setenv("KEY", "hunter2")
	files := map[string]string{
		"s3.fio":   "[global]\nioengine=http\nhttp_host=a:80\nhttp_s3_keyid=me\nhttp_s3_key = ${KEY}\n[a]\ninclude more.fio\nfilename=/x\n",
		"more.fio": "http_s3_sse_customer_key=hunter2\nexec_prerun=curl -u me:hunter2 http://a\n",
		"none.fio": "[a]\nioengine=http\nhttp_user=me\nfilename=/dev/a:/dev/b\n",
	}
	for _, tt := range []struct{ line, shown, want string }{
		{"fio s3.fio", "fio s3.fio", "[a] s3.fio:6: ioengine=http http_host=a:80 http_s3_keyid=me http_s3_key=*** http_s3_sse_customer_key=*** exec_prerun=curl -u me:*** http://a filename=/x\n"},
		{"env X_TOKEN=hunter2 fio --name=a --http_pass=hunter2 -http_swift_auth_token hunter2 --rw=read", "env X_TOKEN=*** fio --name=a --http_pass=*** -http_swift_auth_token *** --rw=read",
			"[a] command line: http_pass=*** http_swift_auth_token=*** rw=read\n"},
		{"fio --name=a --http_sw=hunter2 --http_pas hunter2 --http_user=me", "fio --name=a --http_sw=*** --http_pas *** --http_user=me", "[a] command line: http_sw=*** http_pas=*** http_user=me\n"},
		{"fio --name=a --uri=nbd://me:hunter2@host/x", "fio --name=a --uri=nbd://me:***@host/x", "[a] command line: uri=nbd://me:***@host/x\n"},
		{"fio none.fio", "fio none.fio", "[a] none.fio:1: ioengine=http http_user=me filename=/dev/a:/dev/b\n"},
	} {
		c, err := Parse(strings.Fields(tt.line), reader(files))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{tt.want, tt.shown, tt.line}, []string{text(c), strings.Join(c.Shown(), " "), strings.Join(c.Words(), " ")}); diff != "" {
			t.Error(diff)
		}
		if want := strings.Contains(tt.want+tt.shown, "***"); c.Secrets != want {
			t.Errorf("%s: secrets %v, want %v", tt.line, c.Secrets, want)
		}
	}
}

// TestSecretsInErrors: an error does not quote the value of a secret.
func TestSecretsInErrors(t *testing.T) {
	files := map[string]string{"early.fio": "http_pass=hunter2\n[a]\n", "bad.fio": "[a]\nhttp pass=hunter2\n", "colon.fio": "[a]\n\"http_pass\": hunter2\n", "text.fio": "[a]\nhttp_pass=hunter2\x01\n"}
	for line, want := range map[string]string{
		"fio early.fio":  `early.fio:1:1: got "http_pass"…, want a section such as [global]`,
		"fio bad.fio":    `bad.fio:2:1: got "http pass=***", want an option such as bs=4k`,
		"fio colon.fio":  `colon.fio:2:1: got "\"http_pass\""…, want an option such as bs=4k`,
		"fio text.fio":   `text.fio:2:1: got "http_pass"…, want text`,
		"fio -p=hunter2": "-p: write the option out, such as --output",
	} {
		if _, err := Parse(strings.Fields(line), reader(files)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	c, err := Parse([]string{"fio", "--name=a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, sweep := range []string{"http_pass=hunter1,hunter2", "uri=http://a:hunter2@b,http://c"} {
		if _, err := ParseSweeps([]string{sweep}, c); err == nil || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %v", sweep, err)
		}
	}
}

// TestSecretsMeasureNothing: with another password, or with the *** of a password that was stored before, it is the same work.
func TestSecretsMeasureNothing(t *testing.T) {
	want := fmt.Sprint(Measured(optionsOf("rw=write http_host=a"), false))
	if got := fmt.Sprint(Measured(optionsOf("rw=write http_host=a http_pass=hunter2 http_s3_key=***"), false)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
