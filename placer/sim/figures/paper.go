package figures

// Paper is a system whose evaluation is reproduced.
type Paper struct {
	Name   string // of files and of the command line
	Title  string
	Source string
}

// Papers lists all, in the order of the index.
func Papers() []Paper {
	return []Paper{
		{"paragon", "Paragon", "Delimitrou 2015, chapter 3"},
		{"quasar", "Quasar", "Delimitrou 2015, chapter 4"},
		{"ibench", "iBench", "Delimitrou 2015, chapter 5"},
		{"arq", "ARQ", "Delimitrou 2015, chapter 6"},
		{"tarcil", "Tarcil", "Delimitrou 2015, chapter 7"},
		{"hcloud", "HCloud", "Delimitrou 2015, chapter 8"},
		{"storage", "Storage twins", "Delimitrou 2015, appendix A"},
		{"bloc", "BLOC", "Delimitrou 2015, appendix B"},
		{"echo", "ECHO", "Delimitrou 2015, appendix C"},
		{"lsh", "LSH", "Islam, Gibson and Muzahid, Fast and QoS-Aware Heterogeneous Data Center Scheduling Using Locality Sensitive Hashing"},
		{"pprtte", "KFLR and PP-RTTE", "Sampaio, Estimating Effective Slowdown of Tasks in Energy-Efficient Cloud Systems"},
		{"lotes", "LoTES", "Tran, Zhang, Down and Beck 2016"},
		{"tracon", "TRACON", "Chiang and Huang 2011"},
	}
}
