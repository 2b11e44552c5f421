package geo

import "strings"

// scanner reads a text from left to right.
type scanner struct {
	text string
	at   int
}

// blanks skips white space.
func (s *scanner) blanks() {
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

// has skips a character after blanks and reports whether it is there.
func (s *scanner) has(c byte) bool {
	s.blanks()
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// digits reads the characters of a number after blanks. It returns "" if there are none.
func (s *scanner) digits() string {
	s.blanks()
	from := s.at
	for s.at < len(s.text) && strings.IndexByte("+-.0123456789eE", s.text[s.at]) >= 0 {
		s.at++
	}
	return s.text[from:s.at]
}
