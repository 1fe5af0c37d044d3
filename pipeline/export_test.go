package pipeline

// MostLogs is the largest number of logs of one kind in a run.
const MostLogs = mostLogs

// OpenLogs returns how many logs of the execution are open.
func (s *Stage) OpenLogs() int64 { return s.input.open.Load() }
