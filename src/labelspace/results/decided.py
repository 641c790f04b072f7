"""What a comparison says of decisions: how often each class is called, and how much of it is found."""

from labelspace.results.parts import Part


class Called(Part):
    """One class under the decisions of the model to take home, on test data; means over seeds.

    Args:
        name: of the class.
        share: of the samples that are of it.
        argmax: of the samples that are called it when the likeliest class is called.
        min_cost: the same when the class of least expected cost is; None where mistakes cost the same.
        recall_argmax: of its own samples, those that are called it; None where it has none.
        recall_min_cost: the same by minimum cost.
        expected_cost: of the samples that are called it by the comparison's rule, what that was expected to cost them,
            on average; None where it is never called.
        realised_cost: what it did cost them.
    """

    name: str
    share: float
    argmax: float
    min_cost: float | None = None
    recall_argmax: float | None = None
    recall_min_cost: float | None = None
    expected_cost: float | None = None
    realised_cost: float | None = None
