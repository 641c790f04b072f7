"""A finished run as one ONNX graph: preprocessing, network, scores, temperature and decision, checked against torch."""

import importlib
import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, final

import torch
from torch import Tensor, nn

from labelspace import _checks, _files, models
from labelspace.data.normalize import Normalize
from labelspace.decisions.decision import Decision
from labelspace.decisions.rules import RULES
from labelspace.decisions.tables import weigh
from labelspace.serving.needed import Needed, needed
from labelspace.training.decided import about
from labelspace.training.feed import HALF
from labelspace.training.inputs import Inputs
from labelspace.training.predict import scorer
from labelspace.training.restored import is_estimator
from labelspace.training.run import Run

OUTPUTS = ("probabilities", "class", "decision")
LARGEST_DIFFERENCE = 1e-4
# where things lay on somebody's machine is nobody else's business
PRIVATE = {"data", "data_options", "teacher", "space"}
# batches to check with; one alone shows whether the number of samples was left open
CHECKED = (1, 2, 61)
# as in decisions.abstain, for probabilities in single precision
ROUNDING = 1e-6


class Exported(NamedTuple):
    """What was written, how far it is from torch, and what raw samples need before it."""

    path: Path
    input: str
    difference: float
    samples: int
    needed: Needed


def export_onnx(run: Run, decision: Decision, path: str | Path) -> Exported:
    """Write a run as an ONNX file and check it with onnxruntime on random inputs.

    The graph takes a batch ``x`` in the form of the dataset (uint8 images, columns, token ids; images for a frozen
    network that reads them, features for one that reads texts) and gives ``probabilities (N, K)``, ``class (N,)``, the
    likeliest one, and ``decision (N,)``, that of the rule, −1 where it abstains. Its metadata hold, each as JSON,
    ``names``, ``cost``, ``temperature``, ``rule``, ``abstain_cost``, ``preprocessing``, ``config``, and ``input``: how
    raw samples become ``x``, with the tokeniser of texts or the frozen network that the graph does not hold. Where
    ``actions`` are among them, ``decision`` counts these.

    Several networks that are one are one graph too, which holds all of them.

    Args:
        run: a finished run.
        decision: temperature, prices and rule.
        path: of the file; its folder must be there.
    """
    if run.preprocessing["kind"] == "sequences":
        remedy = "Its search writes token by token: labelspace predict and Run.translate do."
        raise _checks.fail("export", "run", "of a model with one label for each sample", "one of sequences", remedy)
    estimators = sum(is_estimator(each) for each in run.members)
    if estimators:
        networks = [f"members/{place}" for place, each in enumerate(run.members) if not is_estimator(each)]
        one = f"Its networks are {', '.join(networks)}: export one of them." if networks else ""
        found = one or "None of its models is a network: compare with --rivals none to take home those alone."
        remedy = f"labelspace predict, Run.predict_proba and Run.decide take it as it is. {found}"
        got = f"{len(run.members)} models averaged, {estimators} of them no network"
        raise _checks.fail("export", "run", "of a network, or several", got, remedy)
    if not run.members and is_estimator(run):
        remedy = "labelspace predict, Run.predict_proba and Run.decide take it as it is."
        raise _checks.fail("export", "run", "of a network", f"one of {run.config.model}, an estimator", remedy)
    onnxruntime = _packages()
    about(decision, run.names)
    place = Path(path)
    if not place.parent.is_dir():
        raise _checks.fail("export_onnx", "path", "a file in a folder that is there", repr(str(place)))
    if any(each.targets is not None for each in (decision, *(member.deciding for member in run.members))):
        remedy = "Compare with --probabilities 'as is' to take home a model that can be exported."
        raise _checks.fail("export", "decision", "one without inverted probabilities", "one with targets", remedy)
    module = Deployed(run, decision).eval()
    with _files.replacing(place) as temporary:
        _write(module, _metadata(run, decision, module.needed), temporary)
        session = onnxruntime.InferenceSession(temporary.read_bytes(), providers=["CPUExecutionProvider"])
        difference = max(_difference(session, module, count) for count in CHECKED)
        if not difference <= LARGEST_DIFFERENCE:
            raise _checks.WorkError(
                f"The ONNX graph differs from torch by {difference:.2g} where {LARGEST_DIFFERENCE:g} is allowed; "
                f"{place} was not written."
            )
    return Exported(place, module.words, difference, sum(CHECKED), module.needed)


@final
class Deployed(nn.Module):
    """Everything between a batch in the form of the dataset and a decision, in single precision.

    Args:
        run: a finished run.
        decision: temperature, prices and rule.
    """

    prices: Tensor
    done: Tensor | None

    def __init__(self, run: Run, decision: Decision) -> None:
        """Build the parts."""
        super().__init__()
        self.networks = nn.ModuleList(_Network(each) for each in run.members or (run,))
        self.normalize = Normalize.stored(run.preprocessing)  # of the first: samples to check with are like its own
        self.rule, self.abstain_cost = RULES[decision.rule], decision.weighed_abstain_cost
        self.temperature = decision.temperature
        self.run, self.decision = run, decision
        self.register_buffer("prices", decision.weighed)
        self.register_buffer("done", decision.done)
        self.inputs = Inputs(run.preprocessing, run.config.backbone)
        frozen = None if run.config.backbone is None else models.backbone(run.config.backbone)
        self.needed = needed(run.preprocessing, run.config.backbone, None if frozen is None else frozen.key)
        # a text cannot go into a graph: what the frozen network makes of it can
        self.frozen = frozen if frozen is not None and frozen.kind == "images" else None
        self.body = getattr(self.frozen, "body", None)

    @property
    def words(self) -> str:
        """What it takes, in words."""
        example = self.example(1)
        shape = ", ".join(str(size) for size in example.shape[1:])
        return f"{str(example.dtype).removeprefix('torch.')} (batch, {shape})"

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return probabilities, the likeliest class, and the decision."""
        if self.frozen is not None:
            x = self.frozen.extract(self.frozen.prepare(x))
        scores = self._scores(x)
        probabilities = torch.softmax(scores / self.temperature, dim=1)
        ranked = scores
        if self.decision.reorders:
            ranked = probabilities = self.decision.chances(scores).float()
        precise = probabilities.double()
        decision = self.rule.choose(ranked, precise, self.prices if self.rule.needs_prices else None)
        if self.done is not None and not self.rule.needs_prices:
            decision = self.done[decision]
        if self.abstain_cost is not None:
            least = (precise @ self.prices).amin(dim=1)
            decision = torch.where(self.abstain_cost < least - ROUNDING * (1 + least.abs()), -1, decision)
        return probabilities, ranked.argmax(dim=1), decision

    def _scores(self, x: Tensor) -> Tensor:
        """Return scores; of several networks the logarithms of their mean probabilities."""
        if not self.run.members:
            return self.networks[0](x)  # type: ignore[no-any-return]
        chances = [each.deciding.chances(part(x)) for part, each in zip(self.networks, self.run.members, strict=True)]
        return models.as_one(chances, self.run.shares).float()

    def example(self, count: int, seed: int = 0) -> Tensor:
        """Return random samples like those that it takes."""
        draw = torch.Generator().manual_seed(seed)
        facts = self.run.preprocessing
        shape = (count, *facts["input_shape"])
        if self.frozen is not None:
            size = self.inputs.shape or (3, 224, 224)
            return torch.randint(0, 256, (count, *size), generator=draw, dtype=torch.uint8)
        if facts["kind"] == "images":
            return torch.randint(0, 256, shape, generator=draw, dtype=torch.uint8)
        if facts["kind"] == "text":
            return torch.randint(0, facts["tokens"] or 1, shape, generator=draw)
        spread = (1, -1) + (1,) * (len(shape) - 2)
        std, mean = self.normalize.std.reshape(spread), self.normalize.mean.reshape(spread)
        return torch.randn(shape, generator=draw) * std + mean

    @torch.no_grad()
    def expected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return what the library itself says of samples, in the run's own precision where that is exact."""
        readable = self.run.config.backbone is None or self.frozen is not None
        if not readable or any(each.config.precision in HALF for each in self.run.members or (self.run,)):
            return self.forward(x)
        scores = scorer(self.run)(x)
        decided = self.decision.decide(scores)
        decision = torch.where(decided.abstained, -1, decided.actions)
        return self.decision.probabilities(scores).float(), self.decision.likeliest(scores), decision


@final
class _Network(nn.Module):
    def __init__(self, run: Run) -> None:
        super().__init__()
        self.learner, self.normalize = run.learner().float(), Normalize.stored(run.preprocessing)

    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.learner(self.normalize(x))
        return scores.float()


def _write(module: Deployed, metadata: dict[str, str], path: Path) -> None:
    batch = torch.export.Dim("batch")
    try:
        with _quiet():
            program = torch.export.export(module, (module.example(2),), dynamic_shapes=({0: batch},))
            table = torch.export.default_decompositions()
            table[torch.ops.aten._cdist_forward.default] = _distances
            program = program.run_decompositions(table)
            found: Any = torch.onnx.export(
                program,
                (),
                input_names=["x"],
                output_names=list(OUTPUTS),
                dynamic_shapes=({0: "batch"},),
                dynamo=True,
                verbose=False,
            )
            found.model.metadata_props.update(metadata)
            found.save(path, external_data=False)
    except Exception as error:  # torch.export and its passes raise what they like for what they cannot write
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise _checks.WorkError(f"This network cannot be written as ONNX: {first}") from error


def _distances(points: Tensor, centres: Tensor, power: float, mode: int | None) -> Tensor:
    """Return Euclidean distances between all pairs of rows: ONNX has no operation for it."""
    assert power == 2
    return (points.unsqueeze(-2) - centres.unsqueeze(-3)).square().sum(dim=-1).sqrt()


def _difference(session: Any, module: Deployed, count: int) -> float:
    """Return the largest difference of probabilities; infinite where another class follows from more than rounding."""
    x = module.example(count, seed=count)
    found = [torch.from_numpy(output) for output in session.run(list(OUTPUTS), {"x": x.numpy()})]
    wanted = module.expected(x)
    worst = (found[0] - wanted[0]).abs().max().item()
    rows = torch.arange(count)
    p = wanted[0].double()
    gap = (p[rows, wanted[1]] - p[rows, found[1]]).max().item()
    # −1 costs what abstaining costs
    price = torch.full((count, 1), module.abstain_cost or 0.0, dtype=torch.float64)
    cost = torch.cat([weigh(p, module.prices), price], dim=1)
    paid = (cost[rows, found[2]] - cost[rows, wanted[2]]).abs().max().item()
    apart = gap > LARGEST_DIFFERENCE or paid > LARGEST_DIFFERENCE * (1 + float(cost.max()))
    return float("inf") if apart else worst


def _metadata(run: Run, decision: Decision, before: Needed) -> dict[str, str]:
    facts: dict[str, object] = {
        **decision.plain(),
        "preprocessing": run.preprocessing,
        "input": before.facts,
        "config": run.config.model_dump(mode="json", exclude=PRIVATE),
        "labelspace": version("labelspace"),
    }
    return {name: json.dumps(value, ensure_ascii=False) for name, value in facts.items()}


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep torch's remarks about its own exporter off the screen."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _packages() -> Any:
    try:
        for module in ("onnx", "onnxscript"):  # torch's exporter imports them later, with a poorer message
            importlib.import_module(module)
        return importlib.import_module("onnxruntime")
    except ImportError as error:
        missing = (error.name or "onnx").partition(".")[0]
        raise ImportError(
            f"Writing ONNX needs the package {missing!r}, which is not installed. "
            'Install it with: pip install "labelspace[onnx]"'
        ) from error
