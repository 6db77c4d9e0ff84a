package proxy

import (
	"encoding/json"
	"errors"
	"strings"
)

// What a body says is found in its text as it is, without building anything of it: it
// may be anybody's, and a small text can make much of a value. Keys count in any case, as
// for Nomad's own reader.

const (
	// maxDepth of what is looked into; jobs have some ten levels.
	maxDepth = 256
	// maxWord is the longest string, as it is written, that is read.
	maxWord = 4 << 10
)

// Why a body is not understood. Nomad says what is wrong with it, if anything is.
var (
	errNoJSON    = errors.New("it is no JSON object that we can read")
	errTwice     = errors.New("a key is there twice")
	errLongWord  = errors.New("a name is too long")
	errDeep      = errors.New("it is nested too deeply")
	errOtherKind = errors.New("a value is of another kind than Nomad's")
)

// scanner reads a text once, from its beginning.
type scanner struct {
	text  *spool
	at    int
	end   int
	depth int
	// cost is about what the values read so far would take in memory.
	cost int

	piece []byte // the rest of the piece that at is in

	skipItem, skipMember func() error // made once: there may be millions
}

func newScanner(text *spool) *scanner {
	s := &scanner{text: text, end: text.size}
	s.skipItem = s.skip
	s.skipMember = func() error {
		if s.significant() != '"' {
			return errNoJSON
		}
		if _, err := s.quoted(); err != nil {
			return err
		}
		if s.significant() != ':' {
			return errNoJSON
		}
		s.next()
		return s.skip()
	}
	return s
}

// About what values take in memory as Go's maps and slices.
const (
	costOfValue  = 32
	costOfObject = 400
)

// peek is the next byte; 0 at the end, which is in no valid text.
func (s *scanner) peek() byte {
	if len(s.piece) == 0 {
		if s.piece = s.text.rest(s.at, s.end); len(s.piece) == 0 {
			return 0
		}
	}
	return s.piece[0]
}

func (s *scanner) next() byte {
	c := s.peek()
	if len(s.piece) > 0 {
		s.piece = s.piece[1:]
		s.at++
	}
	return c
}

// significant is the next byte that is no white space.
func (s *scanner) significant() byte {
	for {
		switch c := s.peek(); c {
		case ' ', '\t', '\r', '\n':
			s.next()
		default:
			return c
		}
	}
}

// object reads an object member by member; member has to read the value. What is no
// object is skipped, and ok false.
func (s *scanner) object(member func(key string) error) (ok bool, err error) {
	if s.significant() != '{' {
		return false, s.skip()
	}
	s.cost += costOfObject
	err = s.items('}', func() error {
		if s.significant() != '"' {
			return errNoJSON
		}
		key, _, err := s.word()
		if err != nil && !errors.Is(err, errLongWord) {
			return err
		}
		if s.significant() != ':' {
			return errNoJSON
		}
		s.next()
		return member(key)
	})
	return true, err
}

// array reads an array; item has to read each value.
func (s *scanner) array(item func() error) (ok bool, err error) {
	if s.significant() != '[' {
		return false, s.skip()
	}
	s.cost += costOfValue
	return true, s.items(']', item)
}

// items reads what is between the brackets of an object or array.
func (s *scanner) items(end byte, item func() error) error {
	if s.depth++; s.depth > maxDepth {
		return errDeep
	}
	s.next()
	if s.significant() != end {
		for {
			if err := item(); err != nil {
				return err
			}
			c := s.significant()
			if c == end {
				break
			}
			if c != ',' {
				return errNoJSON
			}
			s.next()
		}
	}
	s.next()
	s.depth--
	return nil
}

// skip reads a value of any kind.
func (s *scanner) skip() error {
	switch c := s.significant(); c {
	case '{':
		s.cost += costOfObject
		return s.items('}', s.skipMember)
	case '[':
		s.cost += costOfValue
		return s.items(']', s.skipItem)
	case '"':
		_, err := s.quoted()
		return err
	default:
		s.cost += costOfValue
		if c != '-' && c != 't' && c != 'f' && c != 'n' && (c < '0' || c > '9') {
			return errNoJSON
		}
		for {
			switch s.peek() {
			case 0, ',', ']', '}', ' ', '\t', '\r', '\n':
				return nil
			}
			s.next()
		}
	}
}

// quoted reads a string, and returns where it is, with its quotes.
func (s *scanner) quoted() (span, error) {
	from := s.at
	s.next()
	for {
		switch s.next() {
		case '"':
			s.cost += costOfValue + s.at - from
			return span{from, s.at}, nil
		case '\\':
			s.next()
		case 0:
			if s.at >= s.end {
				return span{}, errNoJSON
			}
		}
	}
}

// word reads a string.
func (s *scanner) word() (string, span, error) {
	at, err := s.quoted()
	if err != nil {
		return "", at, err
	}
	if at.len() > maxWord {
		return "", at, errLongWord
	}
	var out string
	if err := json.Unmarshal(s.text.bytes(at), &out); err != nil {
		return "", at, errNoJSON
	}
	return out, at, nil
}

// null reads a value if it is null.
func (s *scanner) null() bool {
	if s.significant() != 'n' {
		return false
	}
	return s.skip() == nil
}

// valued is where a string of the text is, and what it says; null counts as none.
type valued struct {
	span
	said string
}

// string reads a string, or null, into v.
func (s *scanner) string(v *valued) error {
	if s.null() {
		return nil
	}
	if s.significant() != '"' {
		return errOtherKind
	}
	var err error
	v.said, v.span, err = s.word()
	return err
}

// outline is what a registration, plan or validation says, as far as it is looked at
// before anybody knows whose it is.
type outline struct {
	namespace, region, secret valued // beside the job
	job                       span

	id, ownNamespace, ownRegion, pool valued // the job's
	firstMember                       int    // where its members begin
	empty                             bool   // it has none
	multiregion                       bool
	block                             bool // a group has a performance text
	cost                              int  // of the job in memory
}

// readOutline finds the outline of a body. What follows the first value is not looked at:
// Nomad does not, either.
func readOutline(text *spool) (o outline, err error) {
	s := newScanner(text)
	seen := map[string]bool{}
	ok, err := s.object(func(key string) error {
		known, err := once(seen, key, "Job", "Namespace", "Region", "SecretID")
		if err != nil {
			return err
		}
		switch known {
		case "Job":
			return o.readJob(s)
		case "Namespace":
			return s.string(&o.namespace)
		case "Region":
			return s.string(&o.region)
		case "SecretID":
			return s.string(&o.secret)
		}
		return s.skip()
	})
	if err == nil && !ok {
		err = errNoJSON
	}
	return o, err
}

// once is the key among those that are known, as they are written here; empty for others.
// What Nomad makes of a key that is there twice, it may be in another case, is a mixture
// of both values.
func once(seen map[string]bool, key string, known ...string) (string, error) {
	for _, k := range known {
		if strings.EqualFold(k, key) {
			if seen[k] {
				return "", errTwice
			}
			seen[k] = true
			return k, nil
		}
	}
	return "", nil
}

func (o *outline) readJob(s *scanner) error {
	s.significant()
	from, before := s.at, s.cost
	seen := map[string]bool{}
	o.empty = true
	ok, err := s.object(func(key string) error {
		o.empty = false
		known, err := once(seen, key, "ID", "Namespace", "Region", "NodePool", "Multiregion", "TaskGroups")
		if err != nil {
			return err
		}
		switch known {
		case "ID":
			return s.string(&o.id)
		case "Namespace":
			return s.string(&o.ownNamespace)
		case "Region":
			return s.string(&o.ownRegion)
		case "NodePool":
			return s.pool(o)
		case "Multiregion":
			o.multiregion = !s.null()
			if !o.multiregion {
				return nil
			}
			return s.skip()
		case "TaskGroups":
			return o.readGroups(s)
		}
		return s.skip()
	})
	if ok {
		o.job, o.firstMember, o.cost = span{from, s.at}, from+1, s.cost-before
	}
	return err
}

// pool reads the node pool, and where it is even if it is null.
func (s *scanner) pool(o *outline) error {
	s.significant()
	from := s.at
	err := s.string(&o.pool)
	o.pool.span = span{from, s.at}
	return err
}

func (o *outline) readGroups(s *scanner) error {
	_, err := s.array(func() error {
		_, err := s.object(func(key string) error {
			if !strings.EqualFold(key, "Meta") {
				return s.skip()
			}
			_, err := s.object(func(key string) error {
				// The keys of meta are the user's: there the case counts.
				if key == metaKey && s.significant() == '"' {
					o.block = true
				}
				return s.skip()
			})
			return err
		})
		return err
	})
	return err
}

// metaKey is the key of a group's meta that has the performance text.
const metaKey = "performance"
