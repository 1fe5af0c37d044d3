package archtest

// rule says which packages of this module a package may import, except in its tests.
type rule struct {
	level   int      // imports must be of lower levels
	imports []string // complete: no other package of this module may be imported
	all     bool     // any package may be imported
	std     bool     // only the standard library may be imported from outside the module
	why     string
}

// rules has a rule for each package, by folder. A new package needs one.
var rules = map[string]rule{
	"hist": {
		level: 0, std: true,
		why: "other programs may import the histogram, so it needs only the standard library",
	},
	"internal/unit": {level: 0, std: true, why: "all packages print units"},
	"internal/expr": {level: 0, std: true, why: "the form of conditions and quantities does not depend on what they are about"},
	"internal/fiotest": {
		level: 0, std: true,
		why: "made logs must not depend on the code that they test, such as the bins of hist",
	},
	"internal/fiotest/generate": {
		level: 1, imports: []string{"internal/fiotest"}, std: true,
		why: "it makes logs to measure with, and is no part of fio2es",
	},
	"internal/alike": {level: 0, std: true, why: "it counts messages of one kind"},
	"internal/fioargs": {
		level: 2, imports: []string{"internal/secret", "pipeline/fiolog"}, std: true,
		why: "what options mean, of a command line, a job file or a report, does not depend on what is done with them",
	},
	"internal/record": {
		level: 5, imports: []string{"internal/expr", "internal/fioargs", "internal/secret"}, std: true,
		why: "it runs fio; storing what fio wrote does not depend on who ran it",
	},
	"internal/group":     {level: 0, why: "lists are divided by any key"},
	"internal/safeyaml":  {level: 1, imports: []string{"internal/secret"}, why: "the limits of YAML do not depend on its meaning"},
	"internal/secret":    {level: 0, std: true, why: "which settings are secrets does not depend on where they come from"},
	"internal/late":      {level: 0, std: true, why: "when something is made does not depend on what it is"},
	"internal/ahead":     {level: 0, std: true, why: "it works on any list in other goroutines"},
	"internal/golden":    {level: 0, why: "it compares texts"},
	"internal/shim":      {level: 0, std: true, why: "it is a script"},
	"internal/junit":     {level: 0, std: true, why: "a test report is the same for all commands"},
	"internal/memtest":   {level: 0, std: true, why: "it measures the memory of any function"},
	"internal/testcost":  {level: 0, why: "it changes settings of the test program"},
	"internal/fiomatrix": {level: 0, std: true, why: "it tests the program from outside, through its commands"},
	"internal/archtest":  {level: 0, std: true, why: "it reads the source of packages and imports none"},
	"internal/es":        {level: 0, why: "the client sends requests; the history gives them a meaning"},

	"internal/es/estest": {
		level: 1, imports: []string{"internal/es"},
		why: "a stand-in for a cluster must not know our documents",
	},

	"pipeline/source": {level: 1, imports: []string{"internal/alike", "internal/unit"}, why: "bytes come from files and archives; it knows codecs, and nothing of fio"},
	"pipeline/fiolog": {
		level: 1, imports: []string{"hist", "internal/secret"}, std: true,
		why: "other programs may import the reader of logs; it knows lines and bins, not files or runs",
	},
	"internal/term":  {level: 1, imports: []string{"internal/alike"}, why: "a terminal shows text, and messages of one kind a few times"},
	"internal/chart": {level: 1, imports: []string{"internal/unit"}, why: "axes and lines do not depend on what they show"},
	"internal/table": {
		level: 2, imports: []string{"internal/term", "internal/unit"},
		why: "columns define the contents of a table; it knows formats only",
	},

	"pipeline/align": {
		level: 2, imports: []string{"hist", "pipeline/fiolog", "internal/unit"}, std: true,
		why: "windows do not depend on where rows come from or what is done with windows",
	},
	"pipeline/evidence": {
		level: 3, imports: []string{"hist", "mapping", "pipeline/source", "pipeline/fiolog", "internal/fioargs", "internal/safeyaml"},
		why: "what a file shows does not depend on what it means for a run",
	},
	"pipeline/layout": {
		level: 4, imports: []string{"mapping", "pipeline/evidence", "pipeline/source", "pipeline/fiolog", "internal/fioargs", "internal/safeyaml"},
		why: "what a name says does not depend on which files are one run",
	},
	"pipeline/assign": {
		level: 5, imports: []string{"hist", "mapping", "pipeline/evidence", "pipeline/layout", "pipeline/fiolog", "internal/alike", "internal/fioargs", "internal/group"},
		why: "which evidence is one execution, of which jobs, does not depend on when it ran",
	},
	"mapping": {
		level: 1, imports: []string{"hist"}, std: true,
		why: "documents are the contract between writers and readers, and know neither",
	},

	"internal/window": {level: 2, imports: []string{"mapping", "hist", "internal/unit"}, why: "a window is the same from files and from every store"},
	"mapping/templates": {
		level: 5, imports: []string{"mapping"},
		why: "templates describe documents; other packages install them",
	},
	"kibana": {
		level: 8, imports: []string{"mapping", "mapping/templates", "internal/heatmap", "internal/es"},
		why: "dashboards know the fields of documents and the bands of heat maps",
	},
	"kibana/kibanatest":      {level: 0, std: true, why: "it stands in for Kibana, which does not know our panels"},
	"internal/where":         {level: 8, imports: []string{"internal/workload/rule", "internal/expr", "internal/facts", "internal/table", "internal/unit", "mapping"}, why: "conditions are on the facts of a run, not on its store"},
	"internal/workload/rule": {level: 6, imports: []string{"internal/facts", "internal/fioargs", "mapping"}, why: "documents have their workload, so the rule knows nothing of series and histories"},
	"internal/workload":      {level: 8, imports: []string{"internal/workload/rule", "internal/ahead", "internal/expr", "internal/junit", "internal/facts", "internal/table", "internal/trend", "internal/unit", "internal/fioargs", "mapping"}, why: "the settings of a run decide with which it is compared, not its store; fio has one meaning of options"},
	"internal/trend":         {level: 0, std: true, why: "changes in a series of numbers do not depend on what the numbers are"},
	"internal/history": {
		level: 5, imports: []string{"mapping", "internal/unit"},
		why: "a history is the same in every store",
	},
	"internal/facts": {
		level: 5, imports: []string{"mapping", "hist", "internal/expr", "internal/table", "internal/unit"},
		why: "the facts of a run come from its document",
	},
	"internal/history/pack": {
		level: 6, imports: []string{"internal/history", "mapping"},
		why: "all stores have one short form of documents",
	},
	"internal/history/sqlite": {
		level: 7, imports: []string{"internal/history", "internal/history/pack", "mapping", "internal/ahead"},
		why: "a store knows documents, not how they are made or used",
	},
	"internal/history/elastic": {
		level: 8, imports: []string{"internal/history", "internal/history/pack", "mapping", "mapping/templates", "internal/ahead", "internal/es"},
		why: "a store knows documents, not how they are made or used",
	},
	"internal/history/ndjson": {level: 5, imports: []string{"mapping"}, why: "it writes documents, and does not know how they are made"},
	"internal/heatmap":        {level: 6, imports: []string{"internal/facts", "internal/table", "mapping", "hist", "internal/chart", "internal/unit", "internal/window"}, why: "a picture needs windows, not their source"},
	"internal/slo":            {level: 6, imports: []string{"internal/facts", "internal/junit", "internal/table", "hist", "mapping", "internal/expr", "internal/unit", "internal/window"}, why: "a verdict needs windows, not their source"},
	"internal/live": {
		level: 8, imports: []string{"hist", "mapping", "internal/chart", "internal/facts", "internal/heatmap", "internal/slo", "internal/term", "internal/unit", "internal/window"},
		why: "a screen needs windows, not their source",
	},
	"internal/compare": {level: 6, imports: []string{"internal/junit", "hist", "mapping", "internal/expr", "internal/facts", "internal/table", "internal/term", "internal/unit", "internal/window"}, why: "a comparison needs windows, not their source"},

	"internal/compact": {
		level: 6, imports: []string{"internal/facts", "internal/term", "hist", "mapping", "internal/history", "internal/unit", "internal/window"},
		why: "longer windows replace shorter ones in any store",
	},
	"internal/setup": {
		level: 6, imports: []string{"mapping", "mapping/templates", "internal/es"},
		why: "setup comes before the first document: no logs, no runs",
	},
	"internal/history/historytest": {
		level: 9, imports: []string{"internal/compact", "internal/history", "internal/where", "mapping", "hist"},
		why: "all stores pass the same tests, through the interface",
	},
	"internal/night": {
		level: 10, imports: []string{"internal/compare", "internal/facts", "internal/fioargs", "internal/matrix", "internal/unit", "internal/workload", "internal/workload/rule", "mapping"},
		why: "what many tests measured is computed from their documents, whoever shows it",
	},
	"internal/report": {
		level: 11, imports: []string{"internal/ahead", "internal/history", "internal/night", "internal/slo", "internal/expr", "internal/facts", "internal/table", "internal/chart", "internal/heatmap", "internal/compare", "internal/matrix", "internal/query", "internal/term", "internal/window", "internal/workload", "mapping", "hist", "internal/unit"},
		why: "a page shows answers of queries",
	},
	"internal/web": {
		level: 12, imports: []string{"internal/compare", "internal/facts", "internal/history", "internal/query", "internal/export", "internal/matrix", "internal/report", "internal/table", "internal/expr", "internal/where", "internal/workload", "mapping", "internal/unit"},
		why: "browsers see the history and reports",
	},
	"internal/matrix": {
		level: 9, imports: []string{"internal/chart", "internal/compare", "internal/expr", "internal/facts", "internal/heatmap", "internal/table", "internal/term", "internal/trend", "internal/unit", "internal/where", "internal/workload", "internal/workload/rule", "mapping"},
		why: "a matrix needs the documents of runs, not their source or their windows",
	},
	"internal/methods": {
		level: 5, imports: []string{"hist", "mapping", "internal/chart", "internal/table", "internal/unit", "internal/window"},
		why: "ways to get percentiles are compared on values, whoever read them",
	},
	"internal/export": {
		level: 9, imports: []string{"hist", "mapping", "internal/expr", "internal/facts", "internal/table", "internal/unit", "internal/window", "internal/workload", "internal/workload/rule", "pipeline/fiolog", "pipeline/source"},
		why: "a format needs windows, not their source",
	},
	"pipeline/plan": {
		level: 6, imports: []string{"pipeline/source", "pipeline/evidence", "pipeline/assign", "pipeline/fiolog", "pipeline/align", "internal/fioargs", "internal/group", "internal/unit", "mapping", "hist"},
		why: "when jobs ran follows from evidence, however that was read: it opens no file",
	},
	"pipeline/account": {
		level: 7, imports: []string{"pipeline/plan", "pipeline/assign", "pipeline/fiolog", "pipeline/align", "internal/fioargs", "internal/unit", "mapping", "hist"},
		why: "what is missing and what the totals are follows from a plan and counts, whoever read the rows",
	},
	"pipeline": {
		level:   8,
		imports: []string{"pipeline/source", "pipeline/evidence", "pipeline/layout", "pipeline/plan", "pipeline/account", "pipeline/assign", "pipeline/fiolog", "pipeline/align", "mapping", "hist", "internal/ahead", "internal/unit", "internal/window", "internal/workload/rule", "internal/alike"},
		why:     "it connects the stages, and knows no settings, commands or stores",
	},
	"internal/query": {
		level: 10, imports: []string{"internal/export", "internal/expr", "internal/facts", "internal/history", "internal/slo", "internal/where", "internal/workload", "internal/window", "internal/unit", "pipeline", "pipeline/source", "pipeline/evidence", "pipeline/assign", "mapping", "hist"},
		why: "files and the history give the same windows; commands show them",
	},
	"config": {
		level: 9, imports: []string{"pipeline", "pipeline/align", "hist", "mapping", "mapping/templates", "internal/es", "internal/expr", "internal/safeyaml"},
		why: "settings become options of other packages; only commands read settings",
	},
	"internal/doctor": {
		level: 9, imports: []string{"internal/alike", "internal/table", "internal/term", "internal/unit", "hist", "internal/fioargs", "internal/safeyaml", "internal/window", "mapping", "pipeline", "pipeline/account", "pipeline/assign", "pipeline/fiolog", "pipeline/plan"},
		why: "results are judged by the plan, and commands by their options alone",
	},
	"internal/ingest": {
		level:   9,
		imports: []string{"pipeline", "pipeline/assign", "mapping", "internal/ahead", "internal/facts", "internal/history", "internal/slo", "internal/unit", "internal/window", "internal/workload/rule"},
		why:     "storing runs does not depend on commands, settings or formats",
	},
	"internal/shared": {
		level: 7, imports: []string{"hist", "mapping", "internal/history", "internal/unit", "internal/window", "internal/workload/rule"},
		why: "what hosts have sent is added up in any store, whoever read their files",
	},
	"internal/tidy": {
		level:   11,
		imports: []string{"mapping", "internal/facts", "internal/history", "internal/query", "internal/unit", "internal/workload"},
		why:     "changing runs in a history does not depend on commands or formats",
	},
	"internal/nightly": {
		level:   10,
		imports: []string{"internal/ingest", "pipeline", "pipeline/assign", "pipeline/layout", "pipeline/source", "mapping", "internal/history"},
		why:     "what an ingest remembers does not depend on commands or settings",
	},
	"internal/alert": {
		level: 8, imports: []string{"mapping", "internal/slo", "internal/term", "internal/unit", "internal/window"},
		why: "who is alerted does not depend on where windows come from",
	},
	"internal/follow": {
		level: 11,
		imports: []string{
			"internal/alert", "internal/ingest", "pipeline", "pipeline/align", "pipeline/assign", "pipeline/source", "mapping", "internal/facts", "internal/history",
			"internal/query", "internal/shared", "internal/slo", "internal/unit", "internal/window",
		},
		why: "watching folders does not depend on commands, settings or formats",
	},
	"cmd/fio2es": {
		level: 13, all: true,
		why: "commands put everything together, and no package imports them",
	},
}

// testsOnly are packages for tests, and the packages that may import them.
var testsOnly = map[string][]string{
	"internal/fiotest":             {"internal/fiotest/generate"},
	"internal/golden":              nil,
	"internal/memtest":             nil,
	"internal/testcost":            nil,
	"internal/history/historytest": nil,
	"internal/es/estest":           nil,
	"kibana/kibanatest":            nil,
}

// only are imports that few packages may have: an import path or its beginning, and the folders that may import it.
var only = []struct {
	path    string
	folders []string
	why     string
}{
	{"github.com/spf13/cobra", []string{"cmd/fio2es"}, "only commands parse flags"},
	{"github.com/spf13/viper", []string{"config"}, "settings are read in one place"},
	{"modernc.org/sqlite", []string{"internal/history/sqlite"}, "stores are behind one interface"},
	{"github.com/elastic/elastic-transport-go/v8", []string{"internal/es"}, "there is one client, with one way to fail"},
	{"github.com/elastic/go-elasticsearch/v8", []string{"internal/es", "internal/history/elastic", "internal/setup"},
		"these packages make requests to a cluster; internal/es sends them"},
	{"github.com/therootcompany/xz", []string{"pipeline/source"}, "files are unpacked in one place"},
	{"github.com/go-json-experiment/json/jsontext", []string{"internal/export", "internal/history/elastic", "mapping", "pipeline/fiolog"}, "other JSON has types of its own; errors say where a line is wrong, answers with many documents are read once, and configurations stay text until they are needed"},
	{"github.com/ulikunitz/xz", nil, "it is for tests"},
	{"github.com/google/go-cmp", []string{"internal/golden", "internal/history/historytest"}, "it is for tests"},
	{"pgregory.net/rapid", []string{"internal/testcost"}, "it is for tests"},
	{"github.com/rogpeppe/go-internal", nil, "it is for tests"},
	{"testing", []string{"internal/golden", "internal/history/historytest", "internal/es/estest", "internal/memtest"}, "it is for tests"},
}

// pure are packages that others import for what they compute. Their callers decide what is opened, printed and sent.
var pure = []string{"hist", "pipeline/fiolog", "pipeline/align", "pipeline/account", "mapping"}

// impure are packages that pure ones must not import.
var impure = []string{"os", "os/exec", "net", "net/http", "log", "log/slog", "flag"}
