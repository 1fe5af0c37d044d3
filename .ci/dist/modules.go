package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// modules returns the modules from which a program was built, except its own.
func modules(program string) (info *buildinfo.BuildInfo, list []*debug.Module, err error) {
	info, err = buildinfo.ReadFile(program)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *debug.Module) int { return cmp.Compare(a.Path, b.Path) })
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("%s: no modules", program)
	}
	return info, list, nil
}

var licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright)[-_.a-z0-9]*$`)

// licenses writes the licences and notices of a program's modules and of Go. A module without a licence is an error,
// because it must not be distributed.
func licenses(w io.Writer, program string) error {
	_, list, err := modules(program)
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	if err := licensesIn(w, "Go", strings.TrimSpace(string(root))); err != nil {
		return err
	}
	for _, m := range list {
		dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", m.Path).Output()
		if err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
		if err := licensesIn(w, m.Path+" "+m.Version, strings.TrimSpace(string(dir))); err != nil {
			return err
		}
	}
	return nil
}

// licensesIn writes the licences in a folder, under a title.
func licensesIn(w io.Writer, title, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !licenseName.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		if _, err := fmt.Fprintf(w, "%s\n%s, %s\n\n%s\n\n", strings.Repeat("=", 80), title, e.Name(), strings.TrimSpace(string(text))); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("%s has no licence in %s", title, dir)
	}
	return nil
}

// spdxPackage is a package in SPDX.
type spdxPackage struct {
	ID               string         `json:"SPDXID"`
	Name             string         `json:"name"`
	VersionInfo      string         `json:"versionInfo"`
	Supplier         string         `json:"supplier"`
	DownloadLocation string         `json:"downloadLocation"`
	FilesAnalyzed    bool           `json:"filesAnalyzed"`
	Checksums        []spdxChecksum `json:"checksums,omitempty"`
	Comment          string         `json:"comment,omitempty"`
	ExternalRefs     []spdxRef      `json:"externalRefs"`
}

type spdxChecksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type spdxRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxRelationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

// sbom writes the bill of materials of a program, from what the linker recorded in it.
func sbom(w io.Writer, program, name, version string, at time.Time) error {
	info, list, err := modules(program)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	hash := sha256.Sum256(text)
	sum := hex.EncodeToString(hash[:])
	packages := []spdxPackage{newPackage(0, info.Main.Path, version), newPackage(1, "stdlib", strings.TrimPrefix(info.GoVersion, "go"))}
	packages[0].Checksums = []spdxChecksum{{"SHA256", sum}}
	packages[0].Comment = "The checksum is that of the program " + name + "."
	for i, m := range list {
		p := newPackage(i+2, m.Path, m.Version)
		if h1, ok := strings.CutPrefix(m.Sum, "h1:"); ok {
			raw, err := base64.StdEncoding.DecodeString(h1)
			if err != nil {
				return fmt.Errorf("%s: sum %s: %w", m.Path, m.Sum, err)
			}
			// a hash of the names and hashes of its files, not of an archive
			p.Comment = "go.sum: h1 " + hex.EncodeToString(raw)
		}
		packages = append(packages, p)
	}
	relations := []spdxRelationship{{"SPDXRef-DOCUMENT", "DESCRIBES", packages[0].ID}}
	for _, p := range packages[1:] {
		relations = append(relations, spdxRelationship{packages[0].ID, "DEPENDS_ON", p.ID})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
		"documentNamespace": "https://" + info.Main.Path + "/spdx/" + name + "-" + sum,
		"creationInfo":      map[string]any{"created": at.Format(time.RFC3339), "creators": []string{"Organization: fio2es"}},
		"packages":          packages, "relationships": relations,
	})
}

func newPackage(i int, path, version string) spdxPackage {
	return spdxPackage{
		ID: fmt.Sprintf("SPDXRef-%d", i), Name: path, VersionInfo: version, Supplier: "Organization: " + supplier(path), DownloadLocation: "NOASSERTION",
		ExternalRefs: []spdxRef{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(version, "+", "%2B")}},
	}
}

// supplier returns who publishes a module, as its path says: the domain, or the account of a domain that has accounts of many.
func supplier(path string) string {
	domain, rest, _ := strings.Cut(path, "/")
	account, _, _ := strings.Cut(rest, "/")
	switch {
	case path == "stdlib" || domain == "golang.org":
		return "The Go Authors"
	case domain == "github.com" || domain == "gitlab.com":
		return domain + "/" + account
	}
	return domain
}
