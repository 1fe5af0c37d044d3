package archtest

// rule says what one package may import of this module, other than in its tests.
type rule struct {
	level   int      // imports are of lower levels only
	imports []string // in full: nothing else of this module
	std     bool     // nothing from outside the standard library either
	why     string
}

// rules are of all packages, by their folder. A new one has to find its place here.
var rules = map[string]rule{
	"hist": {
		level: 0, std: true,
		why: "the histogram is for other programs, too: it costs them the standard library and no more",
	},
	"internal/unit": {level: 0, std: true, why: "everybody prints units, so they know nobody"},
	"internal/fiotest": {
		level: 0, std: true,
		why: "its truth must not come from what is tested against it, such as hist's bins",
	},
	"internal/alike":     {level: 0, std: true, why: "messages of one kind are alike wherever they come from"},
	"internal/safeyaml":  {level: 0, why: "what a text may cost does not depend on what it means"},
	"internal/memtest":   {level: 0, std: true, why: "it measures any function, whatever that does"},
	"internal/fiomatrix": {level: 0, std: true, why: "it tests the program from outside, by its commands alone"},
	"internal/archtest":  {level: 0, std: true, why: "rules that import what they rule prove nothing"},
	"internal/es":        {level: 0, why: "the client moves bytes; what they mean is for the history"},

	"internal/es/estest": {
		level: 1, imports: []string{"internal/es"},
		why: "a stand-in for the cluster that knew our documents would believe what we send",
	},

	"pipeline/source": {level: 1, imports: []string{"internal/alike"}, why: "bytes come from somewhere, whatever they mean: no fio here, only codecs"},
	"pipeline/fiolog": {
		level: 1, imports: []string{"hist"}, std: true,
		why: "the reader of logs is for other programs, too: it knows lines and bins, not files or runs",
	},
	"internal/term":  {level: 1, imports: []string{"internal/unit"}, why: "the terminal shows what it is given"},
	"internal/chart": {level: 1, imports: []string{"internal/unit"}, why: "lines and ticks do not depend on what they are of"},
	"internal/table": {
		level: 2, imports: []string{"internal/term", "internal/unit"},
		why: "columns say what is in a table; it knows formats alone",
	},

	"pipeline/align": {
		level: 2, imports: []string{"hist", "pipeline/fiolog"}, std: true,
		why: "time is counted without knowing where rows come from or what becomes of windows",
	},
	"pipeline/cbt": {
		level: 2, imports: []string{"pipeline/source", "pipeline/fiolog", "internal/alike", "internal/safeyaml"},
		why: "what an archive means depends on names and configurations, not on latencies",
	},
	"mapping": {
		level: 2, imports: []string{"hist"},
		why: "documents are the contract of writers and readers: neither may leak into it",
	},

	"internal/window": {level: 3, imports: []string{"mapping", "hist"}, why: "a window is the same wherever it is read from and whatever becomes of it"},
	"mapping/templates": {
		level: 3, imports: []string{"mapping"},
		why: "templates describe documents; who installs them, and where, is for others",
	},
	"kibana": {
		level: 5, imports: []string{"mapping", "mapping/templates", "internal/heatmap", "internal/es"},
		why: "dashboards know the fields of documents and the bands of heat maps, and no more",
	},
	"kibana/kibanatest": {level: 0, std: true, why: "it stands in for Kibana, which knows nothing of our panels"},
	"internal/history": {
		level: 3, imports: []string{"mapping", "internal/unit"},
		why: "what a history is does not depend on where it is stored",
	},
	"internal/facts": {
		level: 3, imports: []string{"mapping", "hist", "pipeline/cbt", "internal/table", "internal/unit"},
		why: "what is said of a run comes from its document, whoever says it",
	},
	"internal/history/sqlite": {
		level: 4, imports: []string{"internal/history", "mapping"},
		why: "a store knows documents; how they were made, and what is computed of them, is for others",
	},
	"internal/history/elastic/bulk": {
		level: 4, imports: []string{"internal/history", "mapping", "internal/es"},
		why: "documents go out as they are: how they were made is over by then",
	},
	"internal/history/elastic": {
		level: 5, imports: []string{"internal/history", "internal/history/elastic/bulk", "mapping", "internal/es"},
		why: "a store knows documents; how they were made, and what is computed of them, is for others",
	},
	"internal/history/ndjson": {level: 3, imports: []string{"mapping"}, why: "it writes documents as they are"},
	"internal/heatmap":        {level: 4, imports: []string{"hist", "internal/chart", "internal/unit", "internal/window"}, why: "a picture needs numbers, not where they came from"},
	"internal/slo":            {level: 4, imports: []string{"hist", "mapping", "internal/unit", "internal/window"}, why: "a verdict needs windows, not where they came from"},
	"internal/compare":        {level: 4, imports: []string{"hist", "mapping", "internal/unit", "internal/window"}, why: "a comparison needs windows, not where they came from"},

	"internal/setup": {
		level: 4, imports: []string{"mapping", "mapping/templates", "internal/es"},
		why: "what is installed is ready before the first document: no logs, no runs",
	},
	"internal/history/historytest": {
		level: 4, imports: []string{"internal/history", "mapping", "hist"},
		why: "all stores pass the same tests, through the interface alone",
	},
	"internal/report": {
		level: 7, imports: []string{"internal/facts", "internal/table", "internal/chart", "internal/heatmap", "internal/slo", "internal/compare", "internal/query", "internal/window", "mapping", "hist", "internal/unit"},
		why: "a page shows answers, wherever they came from",
	},
	"internal/web": {
		level: 8, imports: []string{"internal/facts", "internal/history", "internal/query", "internal/report", "mapping", "internal/unit"},
		why: "browsers see what the history has and what reports say",
	},
	"internal/export": {level: 4, imports: []string{"hist", "internal/table", "internal/window"}, why: "a format holds numbers, wherever they came from"},
	"pipeline": {
		level:   5,
		imports: []string{"pipeline/source", "pipeline/cbt", "pipeline/fiolog", "pipeline/align", "mapping", "hist", "internal/alike"},
		why:     "the one package that knows all rooms, and none of what is around them: configuration, commands, stores",
	},
	"internal/query": {
		level: 6, imports: []string{"internal/facts", "internal/history", "internal/window", "internal/unit", "pipeline", "pipeline/source", "pipeline/cbt", "mapping", "hist"},
		why: "files and the history give the same windows; who wants them, and how they are shown, is for others",
	},
	"config": {
		level: 6, imports: []string{"pipeline", "pipeline/align", "hist", "mapping", "mapping/templates", "internal/es", "internal/safeyaml"},
		why: "settings fill other packages' options; nobody reads settings but commands",
	},
	"internal/ingest": {
		level:   6,
		imports: []string{"pipeline", "pipeline/cbt", "mapping", "internal/facts", "internal/history", "internal/history/elastic/bulk", "internal/slo", "internal/window"},
		why:     "which runs are stored does not depend on commands, settings or formats",
	},
	"internal/follow": {
		level: 7,
		imports: []string{
			"internal/ingest", "pipeline", "pipeline/cbt", "pipeline/source", "mapping", "internal/facts", "internal/history", "internal/slo", "internal/unit", "internal/window",
		},
		why: "how folders are watched does not depend on commands, settings or formats",
	},
	"cmd/fio2es": {
		level: 9,
		imports: []string{
			"config", "pipeline", "pipeline/source", "pipeline/cbt", "pipeline/fiolog", "pipeline/align",
			"mapping", "mapping/templates", "kibana", "hist",
			"internal/chart", "internal/facts", "internal/history", "internal/history/sqlite", "internal/history/elastic", "internal/history/elastic/bulk", "internal/history/ndjson",
			"internal/setup", "internal/report", "internal/web", "internal/export", "internal/heatmap", "internal/slo", "internal/compare",
			"internal/query", "internal/window", "internal/ingest", "internal/follow",
			"internal/es", "internal/fiotest", "internal/table", "internal/term", "internal/unit",
		},
		why: "commands put everything together, and nobody imports them",
	},
}

// testsOnly are for tests, and for the packages named here.
var testsOnly = map[string][]string{
	"internal/fiotest":             {"cmd/fio2es"}, // which can make logs to try things with
	"internal/memtest":             nil,
	"internal/history/historytest": nil,
	"internal/es/estest":           nil,
	"kibana/kibanatest":            nil,
}

// only are what few may import: path, or the begin of one, and the folders that may.
var only = []struct {
	path    string
	folders []string
	why     string
}{
	{"github.com/spf13/cobra", []string{"cmd/fio2es"}, "how commands are called is their own affair"},
	{"github.com/spf13/viper", []string{"config"}, "settings are read in one place, and handed on as plain data"},
	{"modernc.org/sqlite", []string{"internal/history/sqlite"}, "stores are behind one interface"},
	{"github.com/elastic/elastic-transport-go/v8", []string{"internal/es"}, "there is one client, with one way to fail"},
	{"github.com/elastic/go-elasticsearch/v8", []string{"internal/es", "internal/history/elastic", "internal/history/elastic/bulk", "internal/setup"},
		"who makes requests to a cluster; internal/es sends them"},
	{"github.com/ulikunitz/xz", []string{"pipeline/source"}, "what is compressed is unpacked in one place"},
	{"github.com/google/go-cmp", []string{"internal/history/historytest"}, "it is for tests"},
	{"pgregory.net/rapid", nil, "it is for tests"},
	{"github.com/rogpeppe/go-internal", nil, "it is for tests"},
	{"testing", []string{"internal/history/historytest", "internal/es/estest", "internal/memtest"}, "it is for tests"},
}

// pure are packages that others import for what they compute: their callers decide what
// is opened, told and sent.
var pure = []string{"hist", "pipeline/fiolog", "pipeline/align", "mapping"}

// impure is what these do not import.
var impure = []string{"os", "os/exec", "net", "net/http", "log", "log/slog", "flag"}
