"""What is known about the heads of the shipped model: the report beside its weights, or why there is none."""

from typing import TYPE_CHECKING

from pages.parts import session, shipped

if TYPE_CHECKING:
    from model.report import Report


def report() -> "Report | str":
    """The report, or what is wrong with it and how to make it, in a sentence without a full stop."""
    from model.report import ReportError

    try:
        return shipped.heads_report()
    except ReportError as error:
        return str(error).replace(f"{session.WEIGHTS.parents[1]}/", "")  # as one types it in the project's folder
