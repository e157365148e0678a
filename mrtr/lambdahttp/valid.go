package lambdahttp

// validName reports whether s is a token of RFC 9110: a header name or a method.
func validName(s string) bool {
	for i := range len(s) {
		if !tokenByte[s[i]] {
			return false
		}
	}
	return s != ""
}

// validValue reports whether s has no control characters but tabs: fit for a
// header value.
func validValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// printable reports whether s has no control characters: fit for a decoded path.
func printable(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

// visible reports whether s has neither control characters nor spaces: fit for
// a host, or a request line.
func visible(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

var tokenByte = func() (t [256]bool) {
	const special = "!#$%&'*+-.^_`|~"
	for i := range len(special) {
		t[special[i]] = true
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = true
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = true, true
	}
	return t
}()
