"""Make `nouns.tsv.gz` and `verbs.txt.gz` from a WordNet 3.0 database: `python build_lexicon.py /usr/share/wordnet`.

Each noun lemma gets the upper classes of `anchors.tsv` that its senses fall under, each with its share of the lemma's
use in WordNet's sense-tagged texts (a tag count plus a prior that falls with the sense's rank). A noun with a sense
that WordNet relates to a verb, in the classes of what happens or is done, is marked `e`, one that names a quantity or
quality `q`.
"""

import argparse
import gzip
import re
from collections import defaultdict, deque
from pathlib import Path

HERE = Path(__file__).parent
LEMMA = re.compile(r"^[a-z][a-z0-9'-]*(_[a-z0-9'-]+){0,3}$")
HAPPENING = frozenset({"activity", "event", "process", "phenomenon", "condition", "treatment", "test"})
MEASURED = frozenset({"quantity", "quality"})


class Database:
    """The noun file of a WordNet folder: words, hypernyms and verb relations of every synset."""

    def __init__(self, folder: Path) -> None:
        self.hypernyms: dict[str, list[str]] = {}
        self.instance: set[str] = set()
        self.deverbal: set[str] = set()
        self.senses: dict[str, list[str]] = {}
        for fields in _records(folder / "data.noun"):
            offset, words = fields[0], int(fields[3], 16)
            first = 4 + 2 * words
            above = []
            for place in range(int(fields[first])):
                kind, target, part, _ = fields[first + 1 + 4 * place : first + 5 + 4 * place]
                if kind in {"@", "@i"}:
                    above.append(target)
                if kind == "@i":
                    self.instance.add(offset)
                if kind == "+" and part == "v":
                    self.deverbal.add(offset)
            self.hypernyms[offset] = above
        for fields in _records(folder / "index.noun"):
            count = int(fields[2])
            self.senses[fields[0]] = fields[-count:]
        self.tags: dict[tuple[str, int], int] = defaultdict(int)
        for line in (folder / "cntlist.rev").read_text("latin-1").splitlines():
            key, sense, tagged = line.split()
            lemma, rest = key.split("%", 1)
            if rest.startswith("1:"):
                self.tags[lemma, int(sense)] += int(tagged)

    def nearest(self, offset: str, anchors: dict[str, str]) -> str | None:
        """The class of the anchor that is the fewest hypernym steps above a synset."""
        queue, seen = deque([offset]), {offset}
        while queue:
            here = queue.popleft()
            if here in anchors:
                return anchors[here]
            for above in self.hypernyms[here]:
                if above not in seen:
                    seen.add(above)
                    queue.append(above)
        return None


def _records(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text("latin-1").splitlines() if not line.startswith(" ")]


def read_anchors(path: Path, database: Database) -> tuple[dict[str, str], list[str]]:
    """Anchor synset -> class, and the senses of the file that this WordNet does not have."""
    anchors: dict[str, str] = {}
    missing = []
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        name, senses = line.split("\t")
        for sense in senses.split():
            lemma, rank = sense.split("#")
            offsets = database.senses.get(lemma, [])
            if int(rank) > len(offsets):
                missing.append(sense)
                continue
            anchors[offsets[int(rank) - 1]] = name
    return anchors, missing


def noun_line(lemma: str, database: Database, anchors: dict[str, str]) -> str | None:
    """`lemma<TAB>class:share class:share<TAB>flags`, at most three classes, or None for a noun without a class."""
    weights: dict[str, float] = defaultdict(float)
    flags = set()
    for rank, offset in enumerate(database.senses[lemma], start=1):
        kind = database.nearest(offset, anchors)
        if kind is None or (offset in database.instance and kind != "place"):
            continue
        weight = database.tags[lemma, rank] + 2.0 / rank**2
        weights[kind] += weight
        if rank <= 3 and kind in HAPPENING and offset in database.deverbal:
            flags.add("e")
        if rank <= 3 and kind in MEASURED:
            flags.add("q")
    total = sum(weights.values())
    if not total:
        return None
    best = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:4]
    kinds = " ".join(f"{kind}:{round(99 * weight / total)}" for kind, weight in best if weight / total >= 0.04)
    return f"{lemma.replace('_', ' ')}\t{kinds}\t{''.join(sorted(flags))}"


def _write(path: Path, lines: list[str]) -> None:
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=9) as out:
        out.write(("\n".join(lines) + "\n").encode("utf-8"))


def main() -> None:
    """Read the WordNet folder named on the command line and write both files beside this script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "wordnet", type=Path, help="folder with data.noun, index.noun, index.verb, noun.exc, cntlist.rev"
    )
    folder = parser.parse_args().wordnet
    database = Database(folder)
    anchors, missing = read_anchors(HERE / "anchors.tsv", database)
    if missing:
        raise SystemExit(f"anchors.tsv names senses that this WordNet lacks: {' '.join(missing)}")
    lemmas = sorted(lemma for lemma in database.senses if LEMMA.match(lemma))
    _write(HERE / "nouns.tsv.gz", [line for lemma in lemmas if (line := noun_line(lemma, database, anchors))])
    irregular = [" ".join(fields[:2]) for fields in _records(folder / "noun.exc") if "_" not in fields[0]]
    _write(HERE / "irregular.txt.gz", sorted(irregular))
    verbs = sorted(
        fields[0] for fields in _records(folder / "index.verb") if fields[0].isalpha() and fields[0].islower()
    )
    _write(HERE / "verbs.txt.gz", verbs)


if __name__ == "__main__":
    main()
