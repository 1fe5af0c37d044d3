package mapping

import "fmt"

// Level says whether an interval document is about the cluster, a host or a job. Each level has
// indices of its own, so that no query counts a request twice. The zero value is no level.
type Level uint8

// The levels, from the widest.
const (
	Cluster Level = iota + 1 // all jobs on all hosts
	Host                     // all jobs on one host
	Job                      // one job on one host
)

// Levels are all levels, from the widest.
var Levels = [...]Level{Cluster, Host, Job}

var levelNames = [...]string{Cluster: "cluster", Host: "host", Job: "job"}

func (l Level) isKnown() bool { return Cluster <= l && l <= Job }

// String is the level's name in documents and index names.
func (l Level) String() string {
	if l.isKnown() {
		return levelNames[l]
	}
	return fmt.Sprintf("level %d", uint8(l))
}

// ParseLevel is the inverse of [Level.String]; it fails with [ErrIdentity].
func ParseLevel(name string) (Level, error) {
	for _, l := range Levels {
		if l.String() == name {
			return l, nil
		}
	}
	return 0, fmt.Errorf("parse level %q: %w", name, ErrIdentity)
}

// MarshalText is the name; a value that is no level fails with [ErrIdentity].
func (l Level) MarshalText() ([]byte, error) {
	if !l.isKnown() {
		return nil, fmt.Errorf("encode level %d: %w", uint8(l), ErrIdentity)
	}
	return []byte(l.String()), nil
}

// UnmarshalText reads the name; it fails with [ErrIdentity].
func (l *Level) UnmarshalText(text []byte) error {
	parsed, err := ParseLevel(string(text))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}
