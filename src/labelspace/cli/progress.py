"""Bars for a comparison, on stderr: one for all runs, and one for each that has been training for a while."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rich.progress import TaskID

from labelspace.cli.screen import bars, errors
from labelspace.report.words import options_text
from labelspace.sweeps.grid import PROGRESS

if TYPE_CHECKING:
    from labelspace.comparison.training import Told

EVERY = 0.5  # seconds between looks at the runs' folders
FEATURES = "computing features"
PHASES = {
    "rehearsal": "choosing rate, decay and epochs",
    "reference": "tuning the reference",
    "tuning": "tuning strengths",
    "further": "strengths further out",
    "finalists": "the best of them again",
    "seeds": "training seeds",
    "trials of rivals": "tuning rivals",
    "rivals": "rivals",
    "soft labels": "the best of them with soft labels",
    "shuffles": "the winner with shuffled classes",
}


class ComparisonBars:
    """Takes the reports of a comparison and shows them; says the plan in words before training begins."""

    def __init__(self) -> None:
        """Make the bars."""
        self.bar = bars()
        self.phases: dict[str, TaskID] = {}
        self.sizes: dict[str, int] = {}
        self.runs: dict[str, TaskID] = {}
        self.folder: Path | None = None
        self.stopping = threading.Event()
        self.watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        """Show them."""
        self.bar.start()
        if not self.bar.disable:
            self.watcher.start()
        return self

    def __exit__(self, *problem: object) -> None:
        """Take them away."""
        self.stopping.set()
        self.bar.stop()

    def report(self, event: str, numbers: "Told") -> None:
        """Take a report."""
        if event == "split":
            self._begin(numbers["done"], numbers["of"])
        if event == "features":
            self._read(numbers["done"], numbers["of"], numbers["seconds"])
        if event == "measuring":
            self._say(f"measuring one epoch, to see what a budget of {numbers['budget']} buys …")
        if event == "as_before":
            self._say(f"trained as in {numbers['name']}: {numbers['epochs']} epochs (--fresh measures the budget anew)")
        if event == "tight":
            tried = _trials(numbers["trials"])
            self._say(f"even {numbers['epochs']} epochs and {tried} take longer than {numbers['budget']}; going on")
        if event == "rehearsing":
            self.folder = Path(numbers["folder"]) / "runs"
            self._say("choosing rate, decay and epochs for one-hot labels on validation data …")
        if event == "plan":
            self._announce(numbers)
        if event == "run":
            self._advance(numbers["phase"], numbers["done"])
        if event == "analysis":
            self._say(_there(numbers["there"], numbers["runs"]) + "judging on test data …")
        if event == "overrun":
            self._say(_overrun(numbers))
        if event == "unchanged":
            self._say("nothing was trained or judged: all of it was finished before")

    def _begin(self, number: int, of: int) -> None:
        """Take away the bars of the split before."""
        for task in self.phases.values():
            self.bar.remove_task(task)
        self.phases.clear()
        self._say(f"split {number} of {of}")

    def _announce(self, plan: "Told") -> None:
        self.folder, self.sizes = Path(plan["folder"]) / "runs", plan["phases"]
        self._say(plan["title"])
        if plan["space"] is not None:
            self._say(f"space   {plan['space']}")
        if plan["example"]:
            self._say(f"prices  {plan['cost']}: {plan['example']}")
        for label, options in plan["options"].items():
            self._say(f"options {label}: {options_text(options)}")
        self._say(f"training {plan['training']}")
        self._say(
            f"plan    {plan['runs']} runs of {plan['epochs']} epochs, {_trials(plan['trials'])} a method;"
            f" {Path(plan['folder']) / 'plan.toml'}"
        )
        if plan["further"]:
            self._say(f"        and at most {plan['further']} further out, where the best strength lies at an end")
        if plan["phases"].get("shuffles"):
            more = plan["phases"]["shuffles"]
            self._say(f"        and {more} with shuffled classes, where labels that know something of them are cheaper")
        if plan["rivals"]:
            self._say(f"rivals  {', '.join(plan['rivals'])}")
        if plan["left_out"]:
            self._say(f"left out, for want of a label space (--space): {', '.join(plan['left_out'])}")

    def _read(self, done: int, of: int, seconds: float) -> None:
        """Show how far a frozen network has read the samples."""
        if FEATURES not in self.phases:
            self._say(f"computing features of {of:,} samples, once: they are kept, and the budget pays for them")
            self.phases[FEATURES] = self.bar.add_task(FEATURES, total=of)
        self.bar.update(self.phases[FEATURES], completed=done)
        if done == of:
            self._say(f"features took {seconds:.0f} s")

    def _advance(self, phase: str, done: int) -> None:
        if phase not in self.phases:
            self.phases[phase] = self.bar.add_task(PHASES[phase], total=self.sizes.get(phase))
        self.bar.update(self.phases[phase], completed=done)

    def _say(self, text: str) -> None:
        errors.print(text, soft_wrap=True, style="dim")

    def _watch(self) -> None:
        """Show the runs that left a note of where they are."""
        while not self.stopping.wait(EVERY):
            if self.folder is None:
                continue
            found = {path.parent.name: path for path in self.folder.glob(f"*/{PROGRESS}")}
            for name in set(self.runs) - set(found):
                self.bar.remove_task(self.runs.pop(name))
            for name, path in found.items():
                self._show(name, path)

    def _show(self, name: str, path: Path) -> None:
        try:
            done, total = (int(number) for number in path.read_text().split())
        except (OSError, ValueError):  # it has just finished
            return
        if name not in self.runs:
            method, _, seed = name.rpartition("-seed")
            self.runs[name] = self.bar.add_task(f"  {method.rpartition('-')[0]} seed {seed}", total=total)
        self.bar.update(self.runs[name], completed=done)


def _there(there: int, runs: int) -> str:
    """Return how much of the training was done before, in words; nothing where none was."""
    if there == runs:
        return f"nothing was trained: all {runs} runs were there already; "
    return f"{there} of {runs} runs were there already; " if there else ""


def _overrun(numbers: "Told") -> str:
    """Return what took longer than the budget, which counts no rivals and is spent by an estimate."""
    fitting, rest = numbers["fitting"], numbers["seconds"] - numbers["fitting"]
    text = f"took {numbers['seconds']:.0f} s, longer than the budget of {numbers['budget']}"
    if fitting < 0.5:
        return f"{text}: how long training takes is estimated before it"
    return f"{text}: {fitting:.0f} s for rivals, which it does not count (--rivals none), {rest:.0f} s for all else"


def _trials(counts: tuple[int, int]) -> str:
    """Return the fewest and the most trials of a method in words."""
    fewest, most = counts
    return f"{most} {'trial' if most == 1 else 'trials'}" if fewest == most else f"{fewest} to {most} trials"
