"""What can go wrong with a request."""


class AccountantError(Exception):
    """The accountant could not answer."""


class InputError(AccountantError):
    """The request, or a file that it names, is wrong."""


class InfeasibleError(AccountantError):
    """No value meets the budget of a calibration; the message says why."""


class BudgetError(AccountantError):
    """A ledger refused a spend: the step must not run."""


class NoAnswerError(AccountantError):
    """The answer took longer than the request allowed; nothing has changed."""
