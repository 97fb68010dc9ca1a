package accountant

import "github.com/dpaccountant/accountant/internal/fault"

// A FieldError is what every constructor and every question of this module returns for
// a bad value, directly or wrapped (errors.As finds it): its text is "field: problem",
// such as "noise-multiplier: -1 is not in [1e-06, 1e+15]".
//
//   - Path leads to the field, from the outermost name: {"gaussian", "noise-multiplier"};
//     Field() is its last name, and an element of a list is called "p[2]".
//   - Problem is the rest of the text: the value and what is allowed.
//   - Err is what the problem wraps, or nil; Unwrap returns it.
//
// A program that takes values from its own users looks Path up in its own names and
// shows Problem. A plan.Error has the line of a plan besides.
type FieldError = fault.Error
