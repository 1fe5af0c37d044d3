package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// link is the target of a link or a picture in Markdown, without the heading.
var link = regexp.MustCompile(`\]\(([^)#\s]+)`)

// links returns an error for each link in the pages of a folder to a file that is not in the folder.
func links(dir string) error {
	var broken []error
	err := filepath.WalkDir(dir, func(page string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(page, ".md") {
			return err
		}
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target := filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))
			rel, err := filepath.Rel(dir, target)
			if err == nil && !filepath.IsLocal(rel) {
				err = errors.New("outside of the folder")
			}
			if err == nil {
				_, err = os.Stat(target)
			}
			if err != nil {
				broken = append(broken, fmt.Errorf("%s: link to %s: %w", page, m[1], err))
			}
		}
		return nil
	})
	return errors.Join(append(broken, err)...)
}
