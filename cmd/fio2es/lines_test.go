package main

// The lines of --format json, as programs read them. Latencies are in microseconds.

type percentileLine struct {
	Run       string   `json:"run"`
	Archive   string   `json:"archive"`
	Name      string   `json:"name"`
	Level     string   `json:"level"`
	Host      string   `json:"host"`
	Job       string   `json:"job"`
	Direction string   `json:"direction"`
	StartMS   int64    `json:"start_ms"`
	EndMS     int64    `json:"end_ms"`
	Start     string   `json:"start"`
	End       string   `json:"end"`
	Requests  int64    `json:"requests"`
	IOPS      float64  `json:"iops"`
	Min       *float64 `json:"min_us"`
	Mean      *float64 `json:"mean_us"`
	P50       *float64 `json:"p50_us"`
	P75       *float64 `json:"p75_us"`
	P90       *float64 `json:"p90_us"`
	P95       *float64 `json:"p95_us"`
	P99       *float64 `json:"p99_us"`
	P999      *float64 `json:"p99_9_us"`
	P9999     *float64 `json:"p99_99_us"`
	Max       *float64 `json:"max_us"`
	Open      []string `json:"open"`
	Source    string   `json:"source"`
}

type rankLine struct {
	Run       string   `json:"run"`
	Archive   string   `json:"archive"`
	Name      string   `json:"name"`
	WithinUS  float64  `json:"within_us"`
	Direction string   `json:"direction"`
	From      string   `json:"from"`
	To        string   `json:"to"`
	Requests  int64    `json:"requests"`
	Served    int64    `json:"served"`
	AtLeast   int64    `json:"at_least"`
	AtMost    int64    `json:"at_most"`
	Share     *float64 `json:"share"`
	Open      []string `json:"open"`
}

type heatmapLine struct {
	Run      string  `json:"run"`
	Name     string  `json:"name"`
	StartMS  int64   `json:"start_ms"`
	EndMS    int64   `json:"end_ms"`
	Start    string  `json:"start"`
	End      string  `json:"end"`
	LowUS    float64 `json:"low_us"`
	HighUS   float64 `json:"high_us"`
	Requests int64   `json:"requests"`
	Open     bool    `json:"open"`
}

type compareResult struct {
	Direction  string   `json:"direction"`
	Metric     string   `json:"metric"`
	BaseValue  *float64 `json:"base_value"`
	OtherValue *float64 `json:"other_value"`
	Change     *float64 `json:"change_percent"`
}

type slaLine struct {
	Rule           string   `json:"rule"`
	Metric         string   `json:"metric"`
	Value          *float64 `json:"value"`
	Low            *float64 `json:"low"`
	High           *float64 `json:"high"`
	Unit           string   `json:"unit"`
	Verdict        string   `json:"verdict"`
	Requests       int64    `json:"requests"`
	JudgedMS       *int64   `json:"judged_ms"`
	HeldMS         *int64   `json:"held_ms"`
	Worst          *float64 `json:"worst"`
	WorstMS        *int64   `json:"worst_start_ms"`
	FirstMS        *int64   `json:"first_broken_start_ms"`
	LongestMS      *int64   `json:"longest_broken_ms"`
	LongestStartMS *int64   `json:"longest_broken_start_ms"`
}
