package profile

// DataSet names the public measurements that a foreign profile or pair was
// taken from. A profile with one was not measured by this program: what the
// source does not say (time, processor, kernel release, command) is empty in
// it.
type DataSet struct {
	Name       string `json:"name"`             // of the set, as the importer knows it
	Repository string `json:"repository"`       // where it was published, owner/name
	Commit     string `json:"commit,omitempty"` // of the repository, abbreviated
	License    string `json:"license"`          // as the source states it, or that it states none
}
