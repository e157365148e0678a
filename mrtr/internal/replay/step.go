package replay

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Step passes a step: it returns the logged result, or what fn returns, which
// is logged then. fn runs at most once a run; its error ends the run and is not
// logged.
func (r *Run) Step(name string, fn func() (jsontext.Value, error)) (jsontext.Value, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	if err := r.guarded(); err != nil {
		return nil, err
	}
	if name == "" {
		return nil, r.fail(fmt.Errorf("%w: a step without a name", ErrMisuse))
	}
	if err := r.once("step", name); err != nil {
		return nil, err
	}
	if r.next < len(r.log.Entries) {
		// An open group is the last word of a round that ended there: a step in
		// its place means other code, as it does in the place of a closed one.
		e := &r.log.Entries[r.next]
		if e.Step != name {
			return nil, r.fail(fmt.Errorf("%w: at %d there was %v, now there is step %q", ErrDiverged, r.next, e, name))
		}
		r.next++
		return e.Result, nil
	}
	v, err := r.outside(fn)
	if standing := r.standing(); standing != nil {
		return nil, standing
	}
	if err == nil && !v.IsValid() {
		err = fmt.Errorf("%w: the result of step %q is not JSON", ErrMisuse, name)
	}
	if err != nil {
		return nil, r.fail(err)
	}
	r.log.Entries = append(r.log.Entries, Entry{Step: name, Result: v})
	r.next++
	return v, nil
}

// outside calls fn without the lock, so that Close and End do not wait for it.
func (r *Run) outside(fn func() (jsontext.Value, error)) (jsontext.Value, error) {
	r.mu.Unlock()
	defer r.mu.Lock()
	return fn()
}
