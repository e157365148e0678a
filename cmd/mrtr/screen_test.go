package main

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// screen is what a terminal shows: it takes the output of a program and moves
// its cursor as a terminal does. It knows what the programs under test send.
type screen struct {
	cells      [][]rune
	row, col   int
	saved      [][]rune // the main screen, while the other one is shown
	savedRow   int
	savedCol   int
	pending    []byte // an escape sequence, or a character, that is not whole
	hidden     bool   // the cursor
	alternate  bool
	paste      bool
	wrapped    bool // the next character goes to the next line
	topMargin  int
	lastMargin int
}

func newScreen(width, height int) *screen {
	s := &screen{}
	s.resize(width, height)
	return s
}

func (s *screen) resize(width, height int) {
	old := s.cells
	s.cells = blank(width, height)
	for i := range min(len(old), height) {
		copy(s.cells[i], old[i])
	}
	s.topMargin, s.lastMargin = 0, height-1
	s.row, s.col = min(s.row, height-1), min(s.col, width-1)
}

func blank(width, height int) [][]rune {
	cells := make([][]rune, height)
	for i := range cells {
		cells[i] = []rune(strings.Repeat(" ", width))
	}
	return cells
}

// String returns what is on the screen, without blanks at the ends.
func (s *screen) String() string {
	var lines []string
	for _, row := range s.cells {
		lines = append(lines, strings.TrimRight(string(row), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// Write takes output of the program.
func (s *screen) Write(p []byte) (int, error) {
	b := append(s.pending, p...)
	for len(b) > 0 {
		n := s.take(b)
		if n == 0 {
			break
		}
		b = b[n:]
	}
	s.pending = append([]byte(nil), b...)
	return len(p), nil
}

// take takes one character or sequence and returns its length; 0: it is not whole.
func (s *screen) take(b []byte) int {
	switch c := b[0]; {
	case c == 0x1b:
		return s.escape(b)
	case c == '\r':
		s.col, s.wrapped = 0, false
	case c == '\n':
		s.lineFeed()
	case c == '\b':
		s.col, s.wrapped = max(s.col-1, 0), false
	case c == '\t':
		s.col = min(s.col/8*8+8, len(s.cells[0])-1)
	case c < ' ':
	default:
		if !utf8.FullRune(b) {
			return 0
		}
		r, n := utf8.DecodeRune(b)
		s.put(r)
		return n
	}
	return 1
}

func (s *screen) put(r rune) {
	if s.wrapped {
		s.col, s.wrapped = 0, false
		s.lineFeed()
	}
	s.cells[s.row][s.col] = r
	if s.col++; s.col == len(s.cells[0]) {
		s.col, s.wrapped = s.col-1, true
	}
}

func (s *screen) lineFeed() {
	if s.row < s.lastMargin {
		s.row++
		return
	}
	s.scroll(s.topMargin, 1)
}

// scroll moves the lines from top to the last margin up by n; down where n is
// negative.
func (s *screen) scroll(top, n int) {
	width := len(s.cells[0])
	region := s.cells[top : s.lastMargin+1]
	for ; n > 0; n-- {
		copy(region, region[1:])
		region[len(region)-1] = []rune(strings.Repeat(" ", width))
	}
	for ; n < 0; n++ {
		copy(region[1:], region)
		region[0] = []rune(strings.Repeat(" ", width))
	}
}

func (s *screen) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				s.control(string(b[2:i]), b[i])
				return i + 1
			}
		}
		return 0
	case ']', 'P', '_', '^': // strings, up to BEL or ST
		for i := 2; i < len(b); i++ {
			if b[i] == 7 {
				return i + 1
			}
			if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\' {
				return i + 2
			}
		}
		return 0
	case 'M': // up, scrolling
		if s.row == s.topMargin {
			s.scroll(s.topMargin, -1)
		} else {
			s.row--
		}
	case '(', ')':
		if len(b) < 3 {
			return 0
		}
		return 3
	}
	return 2
}

// control carries out a control sequence.
func (s *screen) control(params string, final byte) {
	if strings.HasPrefix(params, "?") {
		s.mode(params[1:], final == 'h')
		return
	}
	if strings.ContainsAny(params, "<=>$ ") {
		return
	}
	arg := func(i, otherwise int) int {
		parts := strings.Split(params, ";")
		if i < len(parts) {
			if n, err := strconv.Atoi(parts[i]); err == nil && n > 0 {
				return n
			}
		}
		return otherwise
	}
	width, height := len(s.cells[0]), len(s.cells)
	n := arg(0, 1)
	row := s.cells[s.row]
	if final != 'm' {
		s.wrapped = false
	}
	clear := func(cells []rune) {
		for i := range cells {
			cells[i] = ' '
		}
	}
	switch final {
	case 'A':
		s.row = max(s.row-n, 0)
	case 'B', 'e':
		s.row = min(s.row+n, height-1)
	case 'C', 'a':
		s.col = min(s.col+n, width-1)
	case 'D':
		s.col = max(s.col-n, 0)
	case 'E':
		s.row, s.col = min(s.row+n, height-1), 0
	case 'F':
		s.row, s.col = max(s.row-n, 0), 0
	case 'G', '`':
		s.col = min(n, width) - 1
	case 'd':
		s.row = min(n, height) - 1
	case 'H', 'f':
		s.row, s.col = min(n, height)-1, min(arg(1, 1), width)-1
	case 'I':
		s.col = min((s.col/8+n)*8, width-1)
	case 'Z':
		s.col = max(((s.col+7)/8-n)*8, 0)
	case 'J':
		switch arg(0, 0) {
		case 0:
			clear(row[s.col:])
			for _, r := range s.cells[s.row+1:] {
				clear(r)
			}
		case 1:
			clear(row[:s.col+1])
			for _, r := range s.cells[:s.row] {
				clear(r)
			}
		default:
			for _, r := range s.cells {
				clear(r)
			}
		}
	case 'K':
		switch arg(0, 0) {
		case 0:
			clear(row[s.col:])
		case 1:
			clear(row[:s.col+1])
		default:
			clear(row)
		}
	case 'X':
		clear(row[s.col:min(s.col+n, width)])
	case 'P':
		copy(row[s.col:], row[min(s.col+n, width):])
		clear(row[max(width-n, s.col):])
	case '@':
		copy(row[min(s.col+n, width):], row[s.col:])
		clear(row[s.col:min(s.col+n, width)])
	case 'b':
		for last := row[max(s.col-1, 0)]; n > 0; n-- {
			s.put(last)
		}
	case 'L':
		s.scroll(s.row, -n)
	case 'M':
		s.scroll(s.row, n)
	case 'S':
		s.scroll(s.topMargin, n)
	case 'T':
		s.scroll(s.topMargin, -n)
	case 'r':
		s.topMargin, s.lastMargin = arg(0, 1)-1, arg(1, height)-1
		s.row, s.col = 0, 0
	}
}

func (s *screen) mode(params string, on bool) {
	for p := range strings.SplitSeq(params, ";") {
		switch p {
		case "25":
			s.hidden = !on
		case "2004":
			s.paste = on
		case "1049":
			if on == s.alternate {
				continue
			}
			if s.alternate = on; on {
				s.saved, s.savedRow, s.savedCol = s.cells, s.row, s.col
				s.cells = blank(len(s.cells[0]), len(s.cells))
				continue
			}
			s.cells, s.row, s.col = s.saved, s.savedRow, s.savedCol
		}
	}
}
