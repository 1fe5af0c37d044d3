package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/fio2es/fio2es/config"
)

// TestUnit: the unit for systemd starts commands that exist, and its folders are those of the settings.
func TestUnit(t *testing.T) {
	text := readText(t, filepath.Join("..", "..", "packaging", "systemd", "fio2es@.service"))
	start := regexp.MustCompile(`(?m)^ExecStart=/usr/bin/fio2es (.*)$`).FindStringSubmatch(text)
	if start == nil {
		t.Fatal("no ExecStart")
	}
	for command, args := range map[string]string{"serve": "--listen :8600", "follow": "--run night7 /data/fio", "watch": "--rule p99<=10ms"} {
		line := strings.NewReplacer("%i", command, "$ARGS", args).Replace(start[1])
		if err := checkLine(strings.Fields(line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, m := range regexp.MustCompile(`(XDG_\w+)=(\S+)`).FindAllStringSubmatch(text, -1) {
		t.Setenv(m[1], strings.NewReplacer("%S", "/var/lib", "%E", "/etc").Replace(m[2]))
	}
	if got := config.Default().History + " " + config.StateFolder() + " " + config.OwnFile(); got != "/var/lib/fio2es/history.db /var/lib/fio2es /etc/fio2es/fio2es.yaml" {
		t.Errorf("its folders are %s", got)
	}
}

// TestKubernetesJob: the containers of the example call commands that exist, with settings that exist.
func TestKubernetesJob(t *testing.T) {
	text := readText(t, filepath.Join("..", "..", "examples", "kubernetes", "job.yaml"))
	documents := yaml.NewDecoder(strings.NewReader(text))
	var job struct {
		Kind string
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Args []string
						Env  []struct{ Name string }
					}
				}
			}
		}
	}
	for job.Kind != "Job" {
		if err := documents.Decode(&job); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range job.Spec.Template.Spec.Containers {
		if err := checkLine(c.Args); err != nil {
			t.Errorf("%q: %v", c.Args, err)
		}
		for _, v := range c.Env {
			if !slices.ContainsFunc(config.Names(), func(name string) bool { return config.Variable(name) == v.Name }) {
				t.Errorf("%s is no setting", v.Name)
			}
		}
	}
}

// TestServeBegins: a service can start before the first run. Only the default history may be missing.
func TestServeBegins(t *testing.T) {
	newUser(t)
	address, _ := serveBy(t, config.Default(), "127.0.0.1:0")
	if code, _ := browse(t, address+"metrics"); code != http.StatusOK {
		t.Errorf("%d", code)
	}
	if info, err := os.Stat(config.Default().History); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
}
