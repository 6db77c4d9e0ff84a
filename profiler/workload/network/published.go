package network

// Published are the deviations of the study (Delimitrou 2015, §C.5.3), in percent.
// Its systems are not available: the numbers are context for ours. The rows of
// Websearch S3 and Combine S4 in table C.4 have one cell too many in the text that is
// left; what is here leaves out the cell that was doubled.
type Published struct {
	Table  string
	System string
	Values Deviations
}

// PublishedTables are tables C.1 to C.4.
func PublishedTables() []Published {
	return []Published{
		{"C.1", "Webmail, load A", Deviations{3.8, 4.2, 4.5, 5.5, 5.8}},
		{"C.1", "Webmail, load B", Deviations{4.3, 5.6, 6.2, 6.3, 6.3}},
		{"C.1", "Webmail, load C", Deviations{2.3, 2.5, 2.7, 3.1, 3.0}},
		{"C.1", "Webmail, load D", Deviations{2.9, 3.4, 3.5, 4.2, 4.1}},
		{"C.2", "Websearch", Deviations{7.2, 5.9, 4.2, 3.9, 3.8}},
		{"C.2", "Combine", Deviations{8.5, 6.9, 5.3, 4.4, 4.4}},
		{"C.3", "Websearch S1", Deviations{1.2, 2.4, 5.7, 6.8, 6.6}},
		{"C.3", "Websearch S2", Deviations{3.9, 3.8, 4.7, 5.3, 5.2}},
		{"C.3", "Websearch S3", Deviations{3.2, 3.6, 3.7, 4.1, 4.0}},
		{"C.3", "Websearch S4", Deviations{7.2, 6.7, 6.8, 7.1, 7.0}},
		{"C.3", "Combine S1", Deviations{2.3, 3.5, 3.6, 4.4, 4.2}},
		{"C.3", "Combine S2", Deviations{4.2, 3.8, 3.6, 3.7, 3.8}},
		{"C.3", "Combine S3", Deviations{5.1, 4.8, 4.9, 4.6, 4.5}},
		{"C.3", "Combine S4", Deviations{7.6, 7.9, 8.1, 8.0, 8.0}},
		{"C.4", "Websearch S1", Deviations{9.5, 5.2, 3.4, 3.2, 2.7}},
		{"C.4", "Websearch S2", Deviations{6.2, 5.4, 4.9, 4.6, 4.6}},
		{"C.4", "Websearch S3", Deviations{4.6, 4.2, 4.1, 4.3, 4.4}},
		{"C.4", "Websearch S4", Deviations{10.8, 9.9, 7.6, 8.1, 8.2}},
		{"C.4", "Combine S1", Deviations{6.5, 4.9, 4.3, 2.4, 2.4}},
		{"C.4", "Combine S2", Deviations{3.4, 3.5, 4.7, 4.6, 4.5}},
		{"C.4", "Combine S3", Deviations{5.8, 6.7, 7.3, 6.3, 6.4}},
		{"C.4", "Combine S4", Deviations{11.2, 10.8, 8.2, 5.6, 5.4}},
	}
}

// The bounds that the study states for all servers of a system or subset, in percent.
const (
	BoundWebmail     = 7.0  // average, table C.1
	BoundAverage     = 5.0  // average, table C.2: 3.8 and 4.4
	BoundFluctuation = 8.0  // table C.3
	BoundLocality    = 11.0 // table C.4
	BoundTemporal50  = 4.0  // Fig. C.16a
	BoundTemporal90  = 7.3
	BoundSpatial50   = 5.2 // Fig. C.16b
	BoundSpatial90   = 9.8
	BoundPair        = 15.0 // 12.2 on a weekday and 8.9 at the weekend
	BoundCurve       = 5.0  // temporal model: below 4.9
	BoundLevel3      = 5.0  // Fig. C.15: 4.4, with 9.1 for two levels and 28 for one
)
