package mapping

// Names of fields of documents, for queries of a cluster and of Kibana. [PendingField] is another.
const (
	TimeField      = "@timestamp"
	RunField       = "run.id"
	IngestField    = "run.ingest"
	ExecutionField = "run.execution"
	StartField     = "run.start"
	LevelField     = "level"
	HostField      = "host.name" // of interval documents of one host
	HostsField     = "run.hosts" // of all documents
	JobField       = "fio.job"
	SectionField   = "fio.section"
	DirectionField = "fio.direction"
	PartField      = "part"
	HistogramField = "latency.histogram" // in run documents below all, read, write, trim and sections
	FilesField     = "source.list"
)
