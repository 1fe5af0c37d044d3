package mapping

// Names of fields of documents, for queries of a cluster and of Kibana. A package that needs the name of one more finds it here, or by
// the field of the Go type, as internal/where does: no other place writes one.
const (
	TimeField      = "@timestamp"
	LengthField    = "interval.ms" // only interval documents have it
	RunField       = "run.id"
	IngestField    = "run.ingest"
	ExecutionField = "run.execution"
	StartField     = "run.start"
	EditField      = "run.edit" // of [RunInfo.Edit] in interval documents
	LevelField     = "level"
	HostField      = "host.name" // of interval documents of one host
	HostsField     = "run.hosts" // of all documents
	JobField       = "fio.job"
	SectionField   = "fio.section"
	DirectionField = "fio.direction"
	PartField      = "part"
	HistogramField = "latency.histogram" // in run documents below all, read, write, trim, sync and sections
	WorkloadField  = "workload.id"
	WorkloadsField = "workload.all" // of run documents: see [Run.Workloads]
	SummaryField   = "summary"      // of run documents in a cluster: what lists need of them, packed

	// The files of a run, and of each what [SourceFile] has. In a document of a removed run they are below [RemovedField].
	FilesField     = "source.list"
	FileRoleField  = FilesField + ".role"
	FileHashField  = FilesField + ".hash"
	FileBeginField = FilesField + ".begin"
	FileSaysField  = FilesField + ".says"

	// RemovedField is the object of a document that has a [Removed]. Only these have its id.
	RemovedField   = "removed"
	RemovedIDField = RemovedField + ".id"

	// SharedField is the object of a document that has a [Part]. Only these have its run.
	SharedField       = "shared"
	SharedRunField    = SharedField + ".run"
	SharedIngestField = SharedField + ".ingest"
	SharedFilesField  = SharedField + ".files"

	// PendingField is true in an interval document of a version that is not current yet, because the version that it
	// replaces still exists. Dashboards skip such documents, so each run counts once in sums. The field is removed when the
	// old version is deleted.
	PendingField = "run.pending"
)
