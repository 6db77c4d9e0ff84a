package ibench

import "errors"

// Errors a caller may want to tell apart.
var (
	ErrNoKernel         = errors.New("no kernel in this release")
	ErrGone             = errors.New("the kernel process is gone")
	ErrNoCalibration    = errors.New("no calibration yet")
	ErrOtherMachine     = errors.New("the calibration belongs to another machine or kernel release")
	ErrBadCalibration   = errors.New("the calibration file cannot be used")
	ErrNewerCalibration = errors.New("the calibration file is of a newer format")
)
